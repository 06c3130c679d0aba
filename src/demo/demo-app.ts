import { invalidOption } from '../errors/agent-error.ts';
import { driverOf, type ModelInput } from '../inference/model-registry.ts';
import type { AgentEntry } from '../server/agent-entry.ts';
import { demoModel } from './demo-model.ts';
import { DEFAULT_CHUNK_DELAY_MS, paceOf } from './pace.ts';
import { partnerAgent } from './partner-agent.ts';
import { openPartnerData } from './partner-data.ts';
import { partnerTools } from './tools/partner-tools.ts';

export interface DemoOptions {
  /** Folder of the data set, which is created and filled on first use. */
  readonly folder: string;
  /** A model such as 'openai:gpt-5', a driver or an AI SDK model. Default: the demo model. */
  readonly model?: ModelInput;
  /** Label of `model` for users. */
  readonly modelLabel?: string;
  /**
   * Milliseconds between chunks; smaller values also speed up slow tools, and 0 waits for nothing. Default 25: 40
   * chunks a second.
   */
  readonly chunkDelayMs?: number;
}

export interface DemoApp {
  readonly name: string;
  readonly agents: readonly AgentEntry[];
  /** Closes the data set. */
  close(): void;
}

/**
 * Messages that each show another behavior: an answer, a failure and a retry, an approval, a limit, a large result, a
 * failed run.
 */
const suggestions: readonly string[] = [
  'Which programs renew this quarter?',
  'Add a lead for Helvetia Robotics with the company data filled in',
  'Clean up inactive Alpine leads',
  'Enrich every lead of the Baltic program',
  'Show the full Nordlicht report',
  'Import the leads from Atlantis',
];

/** Creates a partner-management assistant with real tools over a real data set, on the demo model or any other. */
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
