import { projectOptions, noteFailure, type CliContext } from '../cli-context.ts';
import { oneLine } from '../format.ts';
import { isLoopback, startDevServer, type DevServer } from '../dev-server.ts';
import { untilSignal } from '../until-signal.ts';

export interface DevOptions {
  readonly port?: number;
  readonly host: string;
  readonly token?: string;
  readonly open?: boolean;
}

/** Milliseconds in which running steps may finish at the end. */
const GRACE_MS = 30_000;

/** Serves the agents and their console until the process is stopped. */
export async function dev(context: CliContext, options: DevOptions): Promise<number> {
  const { io } = context;
  const token = options.token ?? io.env['ONWARD_TOKEN'];
  const { host, port } = options;
  const server = await startDevServer({
    ...(await projectOptions(context)),
    host,
    ...(port !== undefined && { port }),
    ...(token !== undefined && token !== '' && { token }),
    ...(io.consoleDir !== undefined && { consoleDir: io.consoleDir }),
    onError: (error, sessionId) => noteFailure(context, error, sessionId),
  });
  const ended = untilSignal(context);
  if (context.isJson) printStarted(context, server);
  else greet(context, server, options);
  if (options.open === true) io.openBrowser(server.address);
  await ended;
  if (!context.isJson)
    context.note('\nFinishing the running steps. Press Ctrl-C again to exit now.');
  await server.close({ graceMs: GRACE_MS });
  if (!context.isJson) context.note('Stopped. Unfinished runs continue with the next start.');
  return 0;
}

function printStarted(
  context: CliContext,
  { address, url, token, port, project }: DevServer,
): void {
  const agents = project.agents.map(({ agent }) => agent.name);
  context.printJson({ type: 'started', url, address, token, port, name: project.name, agents });
}

function greet(context: CliContext, server: DevServer, { host }: DevOptions): void {
  const { print, note, paint, paintNote } = context;
  const { project } = server;
  const line = (name: string, value: string): void =>
    print(`  ${paint('dim', name.padEnd(7))}  ${oneLine(value, 200)}`);
  print();
  print(
    `  ${paint('bold', 'Onward')} ${paint('dim', '·')} ${paint('bold', oneLine(project.name, 80))}`,
  );
  print();
  for (const [i, { agent, title, model, isDemo }] of project.agents.entries()) {
    const label = model ?? agent.describe().driver;
    const why = isDemo && project.modelNote !== null ? `: ${project.modelNote}` : '';
    line(i === 0 ? 'Agent' : '', title === undefined ? agent.name : `${title} (${agent.name})`);
    line(i === 0 ? 'Model' : '', `${label}${why}`);
  }
  line('Store', project.storeLabel);
  print(`  ${paint('dim', 'Open   ')}  ${paint('cyan', server.address)}`);
  print();
  if (!server.hasConsole)
    note(
      `  ${paintNote('yellow', '!')} The console is not built: the API works, the page does not. Run: npm run build`,
    );
  if (!isLoopback(host))
    note(
      `  ${paintNote('yellow', '!')} Other machines can reach this server. Anyone with the token can use it, and the connection is not encrypted.`,
    );
  print(paint('dim', '  Ctrl-C to stop'));
}
