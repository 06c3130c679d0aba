import { sentence } from '../sentence.ts';
import type { GuardFacts } from './facts.ts';

/** Writes why a guard ended the run: a clause that follows "because", and a further sentence. */
export function guardBecause({ at, cause, reason, message, tools = [] }: GuardFacts): {
  readonly because: string;
  readonly detail: string;
} {
  if (cause !== 'blocked')
    return {
      because: `a guard of this assistant could not check ${whats[at]}`,
      detail:
        cause === 'timeout'
          ? 'It did not answer in time, so nothing was let through.'
          : `Nothing was let through. The error was: ${sentence(reason)}`,
    };
  return {
    because: at === 'tools' ? callsText(tools) : blocked[at],
    detail: message ?? (reason === '' ? '' : `The guard says: ${sentence(reason)}`),
  };
}

const whats: Readonly<Record<GuardFacts['at'], string>> = {
  input: 'the message',
  output: 'the answer',
  tools: 'the tool calls',
};

const blocked = {
  input: 'a guard of this assistant blocked the message',
  output: 'a guard of this assistant held back the answer',
} as const;

const MOST_NAMES = 3;

function callsText(tools: readonly string[]): string {
  const names = tools.length > MOST_NAMES ? [...tools.slice(0, MOST_NAMES), 'other tools'] : tools;
  const last = names.at(-1) ?? 'its tool calls';
  const what = names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
  return `a guard of this assistant blocked ${what} before anything ran`;
}
