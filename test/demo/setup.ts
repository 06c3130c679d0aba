import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContinuationEvaluation, Message, Session, SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { onTestFinished } from 'vitest';
import type { AgentStepJSON } from '../../src/agent/agent-state.ts';
import { demoApp, type DemoApp, type DemoOptions } from '../../src/demo/index.ts';
import { openPartnerData, type PartnerData } from '../../src/demo/partner-data.ts';
import { ann, runtimeOn, waiting } from '../setup/sessions.ts';
import { removeFolder } from '../setup/folders.ts';

export interface Demo {
  readonly folder: string;
  readonly app: DemoApp;
  readonly runtime: SessionRuntime;
  /** The tables behind the tools, on a separate connection. */
  readonly data: PartnerData;
  readonly session: Session;
  /** Sends a message and waits for the end or a pause. */
  send(text: string): Promise<Session>;
  messages(): Promise<readonly Message[]>;
  steps(): Promise<readonly AgentStepJSON[]>;
  /** The evaluation of a criterion after a step, counted from 0. */
  evaluation(criterion: string, step: number): Promise<ContinuationEvaluation>;
  /** All text of the assistant so far. */
  said(): Promise<string>;
}

export function demoFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'onward-demo-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Opens the demo as another process would: only the folder is shared. */
export async function openDemo(
  folder: string,
  options: Partial<DemoOptions> = {},
): Promise<Pick<Demo, 'app' | 'runtime' | 'data'>> {
  const app = await demoApp({ folder, chunkDelayMs: 0, ...options });
  const data = await openPartnerData(folder);
  const store = sqliteStore({ path: join(folder, 'sessions.db') });
  onTestFinished(async () => {
    await store.close();
    app.close();
    data.close();
  });
  const agents = app.agents.map(({ agent }) => agent);
  return { app, data, runtime: runtimeOn(store, agents) };
}

/** The demo in its own folder, with one session. */
export async function startDemo(options: Partial<DemoOptions> = {}): Promise<Demo> {
  const folder = demoFolder();
  const opened = await openDemo(folder, options);
  const { runtime } = opened;
  const session = await (await runtime.create(ann)).get();
  const messages = async (): Promise<readonly Message[]> => [
    ...(await runtime.state(session.id, ann)).messages,
  ];
  const steps = async (): Promise<readonly AgentStepJSON[]> =>
    (await runtime.steps(session.id, { ...ann, limit: 100 })).items;
  return {
    ...opened,
    folder,
    session,
    send: (text) => runtime.send(session.id, text, waiting),
    messages,
    steps,
    evaluation: async (criterion, step) =>
      must(
        (await steps())
          .at(step)
          ?.outcome?.evaluations.find((evaluation) => evaluation.criterion === criterion),
      ),
    said: async () =>
      (await messages())
        .filter((message) => message.isAssistant())
        .map(({ text }) => text)
        .join('\n'),
  };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is no such step or criterion');
  return value;
}
