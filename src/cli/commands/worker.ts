import { counted } from '../../number-text.ts';
import type { RunningServer } from '../../server/node.ts';
import { listen } from '../app-server.ts';
import { noteFailure, type CliContext } from '../cli-context.ts';
import { configuredProject } from '../configured-project.ts';
import { oneLine } from '../format.ts';
import { healthOf, type Health } from '../health.ts';
import { openProject } from '../project.ts';
import { untilSignal } from '../until-signal.ts';

export interface WorkerOptions {
  readonly concurrency?: number;
  /** Names of the only agents to run. */
  readonly agents?: readonly string[];
  /** Seconds in which running work may finish at the end. */
  readonly grace: number;
  readonly healthPort?: number;
  /** Address of the health port. */
  readonly host: string;
}

/** Runs sessions without HTTP until the process is stopped, then drains. */
export async function worker(context: CliContext, options: WorkerOptions): Promise<number> {
  const { concurrency, agents: only, grace } = options;
  const project = await openProject({
    ...(await configuredProject(context, 'worker')),
    isShared: true,
    isProduction: true,
    ...(concurrency !== undefined && { concurrency }),
    ...(only !== undefined && { agents: only }),
    onError: (error, sessionId) => noteFailure(context, error, sessionId),
  });
  const { runtime, owner, store, storeLabel } = project;
  const health = healthOf(store);
  let probes: RunningServer | null = null;
  try {
    // report an unreadable store here, not with each sweep
    await runtime.list({ owner, limit: 1 });
    probes = await healthServer(health, options);
    runtime.start();
    const ended = untilSignal(context);
    const agents = project.agents.map(({ agent }) => agent.name);
    if (context.isJson)
      context.printJson({ type: 'started', agents, health_url: probes?.url ?? null });
    else
      context.print(
        `Working on sessions of ${oneLine(agents.join(', '), 200)}, ${storeLabel}${probes ? `, health on ${probes.url}` : ''}`,
      );
    await ended;
    health.drain();
    if (!context.isJson)
      context.note(
        `Draining for at most ${counted(grace, 'second')}. Press Ctrl-C again to exit now.`,
      );
    await runtime.close({ graceMs: grace * 1_000 });
  } finally {
    await probes?.close({ graceMs: 0 });
    await project.close();
  }
  if (!context.isJson) context.note('Stopped. Other processes continue unfinished runs.');
  return 0;
}

/** Serves only the two probes. */
async function healthServer(
  health: Health,
  { healthPort, host }: WorkerOptions,
): Promise<RunningServer | null> {
  if (healthPort === undefined) return null;
  const fetch = async (request: Request): Promise<Response> =>
    health.answer(request) ?? new Response('Not found\n', { status: 404 });
  return listen(fetch, { host, ports: [healthPort], command: 'onward worker' });
}
