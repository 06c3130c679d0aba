import { Writable } from 'node:stream';
import { askLine } from './ask-line.ts';
import type { CliIo, CliOutput, CliSignal } from './cli-io.ts';
import { openBrowser } from './open-browser.ts';

/** The real environment: this process with its streams and signals. */
export function processIo(): { readonly io: CliIo; flush(): Promise<void> } {
  const { stdin, stdout, stderr } = process;
  const io: CliIo = {
    stdout: outputOf(stdout),
    stderr: outputOf(stderr),
    env: process.env,
    cwd: process.cwd(),
    isTTY: stdin.isTTY && stderr.isTTY,
    // on stderr, so that stdout has only the answer
    ask: (question) => askLine(stdin, stderr, question),
    async readInput() {
      if (stdin.isTTY) return null;
      let text = '';
      for await (const piece of stdin.setEncoding('utf8')) text += String(piece);
      return text;
    },
    takeStdio: () => ({ stdin, stdout: takenOut(stdout, stderr) }),
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

/** Returns the only way to write to stdout from now on: the config and its tools may print what is no protocol. */
function takenOut(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Writable {
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const taken = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  // a reader that has gone ends the connection
  taken.on('error', () => {});
  return taken;
}

/** Ignores a reader that has gone (`| head -1`): the work continues without it. */
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

/** Waits for pipes, which are written in the background, before the process exits. */
const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else {
      stream.once('close', resolve).once('error', () => resolve());
      stream.write('', () => resolve());
    }
  });
