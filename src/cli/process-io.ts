import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { createInterface } from 'node:readline/promises';
import type { CliIo, CliOutput, CliSignal } from './cli-io.ts';

/** Long enough to read what waits at the terminal. */
const TYPED_MS = 30;

/** The world as it is: this process with its streams and signals. */
export function processIo(): { readonly io: CliIo; flush(): Promise<void> } {
  const { stdin, stdout, stderr } = process;
  const io: CliIo = {
    stdout: outputOf(stdout),
    stderr: outputOf(stderr),
    env: process.env,
    cwd: process.cwd(),
    isTTY: stdin.isTTY && stderr.isTTY,
    ask,
    async readInput() {
      if (stdin.isTTY) return null;
      let text = '';
      for await (const piece of stdin.setEncoding('utf8')) text += String(piece);
      return text;
    },
    onSignal(listener) {
      const signals: readonly CliSignal[] = ['SIGINT', 'SIGTERM'];
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
    exit: (code) => process.exit(code),
    openBrowser,
  };
  return { io, flush: async () => void (await Promise.all([drained(stdout), drained(stderr)])) };
}

/** A reader that has gone (`| head -1`) is no error: the work goes on without it. */
function outputOf(stream: NodeJS.WriteStream): CliOutput {
  let isGone = false;
  stream.on('error', () => (isGone = true));
  return {
    write(text) {
      if (!isGone) stream.write(text);
    },
    isTTY: stream.isTTY,
  };
}

/** Pipes are written in the background: what is written has to leave before the process does. */
const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else {
      stream.once('close', resolve).once('error', () => resolve());
      stream.write('', () => resolve());
    }
  });

/** On stderr, so that stdout has the answer alone. Null at the end of the input, and with Ctrl-C. */
async function ask(question: string): Promise<string | null> {
  await dropTyped();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<string | null>((resolve, reject) => {
      lines.once('close', () => resolve(null));
      lines.once('SIGINT', () => resolve(null));
      lines.question(question).then(resolve, reject);
    });
  } finally {
    lines.close();
  }
}

/** A line typed before the question was there is no answer to it: it could agree to anything. */
async function dropTyped(): Promise<void> {
  const drop = (): void => {};
  process.stdin.on('data', drop).resume();
  await wait(TYPED_MS);
  process.stdin.off('data', drop).pause();
}

function openBrowser(url: string): void {
  const [command, ...words] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', url]
        : ['xdg-open', url];
  // the address is printed: without a browser nothing is lost
  spawn(command ?? '', words, { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
