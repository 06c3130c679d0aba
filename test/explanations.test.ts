import { AgentState, explainOutcome, explainState, type Explanation } from 'onward';
import { describe, expect, it } from 'vitest';
import { builtInCriteria } from '../src/continuation/built-in-criteria.ts';
import { parkedOutcome } from '../src/sessions/attempts.ts';
import { explanationCases } from './explanation-cases.ts';
import { explanationTexts } from './explanation-texts.ts';

/** The text for users. */
const personText = ({ headline, detail, actions }: Explanation): string =>
  [headline, detail, actions[0]?.text ?? ''].filter(Boolean).join(' ');

/** The text for developers, without the list of evaluations. */
const developerText = (state: AgentState): string =>
  state.status === 'paused'
    ? (explainState(state).actions[0]?.developerText ?? '')
    : (state.lastContinuationOutcome
        ?.explain()
        .split('\n')
        .filter((line) => !line.startsWith('  '))
        .join('\n') ?? '');

describe('explanations', () => {
  it('there is a text for every case', () => {
    expect(Object.keys(explanationTexts)).toEqual(Object.keys(explanationCases));
  });

  it.each(Object.entries(explanationCases))('%s', async (name, run) => {
    const state = await run();
    const [person, developer] = explanationTexts[name] ?? [];
    const explanation = explainState(state);
    expect(personText(explanation)).toBe(person);
    expect(developerText(state)).toBe(developer);
    const restored = AgentState.from(JSON.parse(JSON.stringify(state)));
    expect(explainState(restored)).toEqual(explanation);
  });

  it.each(Object.entries(explanationCases))(
    'the text for users has no code and no class name: %s',
    async (_name, run) => {
      const { headline, detail, actions } = explainState(await run());
      for (const text of [headline, detail, ...actions.map((action) => action.text)]) {
        for (const code of ['{', '(...)', 'resume(', '_limit', 'undefined', 'null'])
          expect(text).not.toContain(code);
        for (const name of [...builtInCriteria, 'BudgetCheck', 'OfficeHours'])
          expect(text).not.toContain(name);
      }
    },
  );

  it('explains a parked session', () => {
    const outcome = parkedOutcome({
      error: 'the store refused the row',
      tries: 5,
      deaths: 0,
      parkedAt: '2026-01-16T12:00:00.000Z',
    });
    const explanation = explainState({ status: 'failed', lastContinuationOutcome: outcome });
    expect(outcome.explanation()).toEqual(explanation);
    expect(personText(explanation)).toBe(
      'Failed because the work on this conversation was given up after 5 failed tries. The last error was: the store refused the row. To continue, retry it.',
    );
    expect(explanation.actions).toMatchObject([
      {
        kind: 'retry',
        developerText:
          'fix the cause, then call runtime.retry(id, { owner }), or stop the session.',
      },
    ]);
  });

  it('offers no more than the owner may grant, then refers to the operator', async () => {
    const { lastContinuationOutcome: outcome } = await explanationCases['step limit']!();
    const within = (grant: { steps: number } | null) =>
      explainOutcome(outcome!, { allowance: { left: grant ?? {}, grant } }).actions;
    expect(within({ steps: 1 })).toMatchObject([
      {
        kind: 'grant',
        grant: { steps: 1 },
        minimum: { steps: 1 },
        text: 'To continue, add 1 step.',
      },
    ]);
    expect(within(null)).toMatchObject([
      {
        kind: 'ask_operator',
        text: 'To continue, ask an operator for more, or send a new message.',
      },
      { kind: 'new_message' },
    ]);
  });

  it('explains a run that has not started and a run that is busy', () => {
    const state = { lastContinuationOutcome: null };
    expect(explainState({ ...state, status: 'pending' })).toEqual({
      headline: 'Nothing has run yet.',
      detail: '',
      decidedBy: null,
      stopReason: null,
      actions: [],
    });
    expect(explainState({ ...state, status: 'in_progress' }).headline).toBe('Working.');
  });
});
