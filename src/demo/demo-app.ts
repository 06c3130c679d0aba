import { invalidOption } from '../errors/agent-error.ts';
import { driverOf, type ModelInput } from '../inference/model-registry.ts';
import type { AgentEntry } from '../server/agent-entry.ts';
import { demoModel } from './demo-model.ts';
import { DEFAULT_CHUNK_DELAY_MS, paceOf } from './pace.ts';
import { partnerAgent } from './partner-agent.ts';
import { openPartnerData } from './partner-data.ts';
import { partnerTools } from './tools/partner-tools.ts';

export interface DemoOptions {
  /** Where the data set lives; made and filled on first use. */
  readonly folder: string;
  /** A model such as 'openai:gpt-5', or a driver/AI SDK model; default: the demo model. */
  readonly model?: ModelInput;
  /** Label for people, when `model` is given. */
  readonly modelLabel?: string;
  /** Speeds the demo up in tests, its slow tools included; 0 waits for nothing. Default 25: 40 chunks a second. */
  readonly chunkDelayMs?: number;
}

export interface DemoApp {
  readonly name: string;
  readonly agents: readonly AgentEntry[];
  /** Closes the data set. */
  close(): void;
}

/** Each shows another thing that runs do: answer, fail and retry, wait for a person, meet a limit, be large, give up. */
const suggestions: readonly string[] = [
  'Which programs renew this quarter?',
  'Add a lead for Helvetia Robotics with the company data filled in',
  'Clean up inactive Alpine leads',
  'Enrich every lead of the Baltic program',
  'Show the full Nordlicht report',
  'Import the leads from Atlantis',
];

/** A partner-management assistant with real tools over a real data set, on the demo model or on any other. */
export async function demoApp(options: DemoOptions): Promise<DemoApp> {
  const { folder, model, modelLabel, chunkDelayMs = DEFAULT_CHUNK_DELAY_MS } = options;
  if (!(Number.isFinite(chunkDelayMs) && chunkDelayMs >= 0))
    throw invalidOption('demoApp chunkDelayMs', chunkDelayMs, 'a finite number of 0 or more');
  const pace = paceOf(chunkDelayMs);
  const driver = model === undefined ? demoModel({ pace }) : driverOf(model);
  const label = typeof model === 'string' ? model : (driver.model ?? driver.name);
  const data = await openPartnerData(folder);
  const agent = partnerAgent(driver, partnerTools(data, pace));
  const entry: AgentEntry = {
    agent,
    title: 'Partner assistant',
    description:
      'Looks after partner programs and their leads: searches, reports, adds, fills in company data, and deletes once you agree.',
    model: model === undefined ? 'Demo model' : (modelLabel ?? label),
    isDemo: model === undefined,
    suggestions,
  };
  return { name: 'Partners', agents: [entry], close: () => data.close() };
}
