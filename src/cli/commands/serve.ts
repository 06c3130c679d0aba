import { counted } from '../../number-text.ts';
import { noteFailure, type CliContext } from '../cli-context.ts';
import { oneLine } from '../format.ts';
import { startProductionServer } from '../production-server.ts';
import { configuredProject } from '../configured-project.ts';
import { untilSignal } from '../until-signal.ts';

export interface ServeOptions {
  readonly port?: number;
  readonly host: string;
  /** Whether this process also runs sessions; false with `--no-work`. */
  readonly work: boolean;
  /** Seconds in which running work may finish at the end. */
  readonly grace: number;
  /** Seconds in which the process, when it is to end, still serves requests but is not ready. */
  readonly drainDelay: number;
}

/** Serves the API in production until the process is stopped, then drains. */
export async function serve(context: CliContext, options: ServeOptions): Promise<number> {
  const { io } = context;
  const { host, port, work, grace, drainDelay } = options;
  const server = await startProductionServer({
    ...(await configuredProject(context, 'serve')),
    host,
    ...(port !== undefined && { port }),
    isDetached: !work,
    ...(io.consoleDir !== undefined && { consoleDir: io.consoleDir }),
    onError: (error, sessionId) => noteFailure(context, error, sessionId),
  });
  const ended = untilSignal(context);
  const { url, project } = server;
  const agents = project.agents.map(({ agent }) => agent.name);
  if (context.isJson)
    context.printJson({
      type: 'started',
      url,
      port: server.port,
      name: project.name,
      agents,
      work,
    });
  else
    context.print(
      `${oneLine(project.name, 80)} on ${url} with ${counted(agents.length, 'agent')}, ${project.storeLabel}${work ? '' : ', without work'}`,
    );
  await ended;
  if (!context.isJson && drainDelay > 0)
    context.note(`Not ready. Serving for ${counted(drainDelay, 'second')} more.`);
  if (!context.isJson)
    context.note(
      `Draining for at most ${counted(grace, 'second')}. Press Ctrl-C again to exit now.`,
    );
  await server.close({ graceMs: grace * 1_000, delayMs: drainDelay * 1_000 });
  if (!context.isJson) context.note('Stopped. Other processes continue unfinished runs.');
  return 0;
}
