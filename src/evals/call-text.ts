import { excerpt } from '../errors/excerpt.ts';
import { counted } from '../number-text.ts';
import { visibleText } from '../visible-text.ts';
import type { EvalCall } from './eval-run.ts';

/** Maximum calls that a message lists, and characters of the arguments of each. */
const LISTED_CALLS = 20;
const ARGS_CHARS = 200;

/** Writes foreign text in one line for a message or a report: redacted, bounded and without hidden characters. */
export const shortText = (text: string, max: number): string =>
  visibleText(excerpt(text, max).replaceAll(/\s+/g, ' ').trim());

/** Writes a call in one line: `search_docs {"query":"x"}`. */
export const callText = ({ tool, args }: Pick<EvalCall, 'tool' | 'args'>): string =>
  `${shortText(tool, 100)} ${shortText(JSON.stringify(args), ARGS_CHARS)}`;

/** Lists calls with their steps and results, one per line, the first 20. */
export function callLines(calls: readonly EvalCall[]): readonly string[] {
  if (calls.length === 0) return ['  (no tool was called)'];
  const lines = calls.slice(0, LISTED_CALLS).map((call) => {
    const { step, agent, kind, error } = call;
    const by = agent === null ? '' : ` (${shortText(agent, 60)})`;
    const why = error === null ? '' : `: ${shortText(error, 120)}`;
    return `  step ${step}${by}: ${callText(call)} → ${kind}${why}`;
  });
  const more = calls.length - lines.length;
  return more > 0 ? [...lines, `  … and ${counted(more, 'more call')}`] : lines;
}

/** Lists the tools that were called, in one line: `search_docs, search_docs, answer`. */
export function toolsText(calls: readonly Pick<EvalCall, 'tool'>[]): string {
  if (calls.length === 0) return 'no tool';
  const names = calls.slice(0, LISTED_CALLS).map(({ tool }) => shortText(tool, 100));
  return [...names, ...(calls.length > names.length ? ['…'] : [])].join(', ');
}
