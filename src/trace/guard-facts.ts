import { durationText } from '../number-text.ts';
import { visibleText } from '../visible-text.ts';
import type { ModelCallFact } from './model-call-facts.ts';
import type { TraceStep } from './trace.ts';

const whats = { input: 'the message', output: 'the answer', tools: 'the calls' } as const;

/** Returns what guards decided in a step, without hidden characters. */
export const guardFacts = ({ guards = [] }: TraceStep): readonly ModelCallFact[] =>
  guards.map(({ at, decision, cause, name, durationMs, reason }) => {
    const what = `${whats[at]} in ${durationText(durationMs)}`;
    const why = reason === undefined ? '' : `: ${visibleText(reason).slice(0, 200)}`;
    const did =
      cause === undefined
        ? `guard ${decision} ${what}`
        : `guard could not check ${what}, and ${decision === 'passed' ? 'let it pass' : 'blocked'}`;
    return { text: `${did}${why}`, code: visibleText(name) };
  });
