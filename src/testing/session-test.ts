import type { SessionExport } from '../exports/session-export.ts';
import { textOf } from '../messages/content-part.ts';
import { visibleJson } from '../visible-text.ts';
import { outlineOf } from './session-outline.ts';
import { scriptOf, type ScriptOptions } from './session-script.ts';

export interface SessionTestOptions extends ScriptOptions {
  /** What the test imports as the config: it has `agents`, and `deps` if they need some. Default `./onward.config.ts`. */
  readonly config?: string;
}

const MOST_TITLE = 60;

/** Writes a vitest file that repeats an exported session with a scripted model, and compares what happens. */
export function sessionTest(session: SessionExport, options: SessionTestOptions = {}): string {
  const { config = './onward.config.ts', ...more } = options;
  const script = scriptOf(session, more);
  const expected = outlineOf(session);
  const first = session.messages.find(({ message }) => message.role === 'user');
  const title = `${script.agent}: ${first ? titleOf(textOf(first.message.content)) : 'no message'}`;
  return `// Written by onward export --test, from a session of ${new Date(session.session.createdAt).toISOString().slice(0, 10)}. Run it with vitest: it needs no key.
${importLine('{ rehearse, type SessionOutline, type SessionScript }', "'onward/testing'")}
${importLine('{ expect, it }', "'vitest'")}
${importLine('config', jsonText(config))}

/**
 * What was done, and what the models answered. Your tools run, except \`recordedTools\`: they answer with \`results\`. Export with
 * --recorded <tools> to add tools that have effects, or whose results depend on anything but their arguments.
 */
const script: SessionScript = ${jsonText(script)};

/** What happened. Change it if a change of the agent is meant to change it. */
const expected: SessionOutline = ${jsonText(expected)};

it(${jsonText(title)}, async () => {
  expect(await rehearse(script, config)).toEqual(expected);
});
`;
}

/** Texts of a session are foreign: a terminal or an editor must not act on what is hidden in them. */
const jsonText = (value: unknown): string => visibleJson(JSON.stringify(value, null, 2));

const importLine = (what: string, from: string): string => `import ${what} from ${from};`;

function titleOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE - 1)}…` : line;
}
