import { AgentError, invalidOption, show, whole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { EvalCase, EvalCaseInput } from './eval-case.ts';
import { evalHarness, type EvalHarness, type HarnessOptions } from './eval-harness.ts';
import type { Scorer } from './score.ts';
import { stoppedBecause } from './scorers/stop-scorer.ts';

/** The cases of an eval, or a function that loads them. */
export type EvalCases =
  | readonly EvalCaseInput[]
  | (() => readonly EvalCaseInput[] | Promise<readonly EvalCaseInput[]>);

interface SuiteOptions {
  /** Name of the suite: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly cases: EvalCases;
  /** Scorers of every case. Default: `stoppedBecause()`. */
  readonly scorers?: readonly Scorer[];
  /** How often each case runs. Default 1. */
  readonly repeats?: number;
  /** Share of the runs of a case that has to pass, above 0 and at most 1. Default 1. */
  readonly passRate?: number;
  /** Runs at the same time. Default 4. */
  readonly concurrency?: number;
}

/** Options of an eval; `deps` is required if the agent needs dependencies. */
export type EvalOptions<Deps = {}> = SuiteOptions & HarnessOptions<Deps>;

/** A checked eval, which `runEval` and `onward eval` run. */
export interface EvalDefinition {
  readonly kind: 'onward.eval';
  readonly name: string;
  readonly cases: EvalCases;
  readonly scorers: readonly Scorer[];
  readonly repeats: number;
  readonly passRate: number;
  readonly concurrency: number;
  readonly harness: EvalHarness;
  /** The agent, if all runs share it; for its name and model in reports. */
  readonly agent: { describe(): { readonly name: string; readonly driver: string } } | null;
}

/** Defines an eval. An eval file exports it as default. Throws on misuse, before any run. */
export function defineEval<Deps = {}>(options: EvalOptions<Deps>): EvalDefinition {
  const { name, cases, agent, scorers = [stoppedBecause()] } = options;
  if (!isSuiteName(name))
    throw invalidOption('defineEval name', name, 'letters, digits, - and _, at most 64');
  if (!Array.isArray(cases) && typeof cases !== 'function')
    throw invalidOption('defineEval cases', cases, 'a list of cases, or a function that loads it');
  if (typeof agent !== 'function' && !isRecord(agent))
    throw invalidOption('defineEval agent', agent, 'an agent, or a function that makes one');
  return {
    kind: 'onward.eval',
    name,
    cases,
    scorers: checkedScorers('defineEval scorers', scorers),
    repeats: checkedRepeats(options.repeats ?? 1),
    passRate: checkedRate(options.passRate ?? 1),
    concurrency: whole('concurrency', options.concurrency ?? 4),
    harness: evalHarness(options),
    agent: typeof agent === 'function' ? null : agent,
  };
}

const isSuiteName = (name: unknown): boolean =>
  typeof name === 'string' && /^[A-Za-z0-9][\w-]{0,63}$/.test(name);

/** Maximum runs of a case. */
const MAX_REPEATS = 1_000;

export function checkedRepeats(repeats: number): number {
  if (Number.isInteger(repeats) && repeats > 0 && repeats <= MAX_REPEATS) return repeats;
  throw invalidOption('repeats', repeats, `a whole number from 1 to ${MAX_REPEATS}`);
}

function checkedRate(passRate: number): number {
  if (passRate > 0 && passRate <= 1) return passRate;
  throw invalidOption('passRate', passRate, 'a number above 0, at most 1');
}

/** Checks scorers; two of the same name would be one column of a report. */
function checkedScorers(what: string, scorers: readonly Scorer[]): readonly Scorer[] {
  if (!Array.isArray(scorers)) throw invalidOption(what, scorers, 'a list of scorers');
  const names = new Set<string>();
  for (const scorer of scorers) {
    if (!isRecord(scorer) || typeof scorer.name !== 'string' || typeof scorer.score !== 'function')
      throw invalidOption(what, scorer, 'scorers, such as calledTool("search")');
    if (names.has(scorer.name))
      throw new AgentError(
        'invalid_option',
        `${what} has two scorers with the name ${show(scorer.name)}. Give one another: { name: ... }.`,
      );
    names.add(scorer.name);
  }
  return scorers;
}

/** The scorers of a case: those of the suite, then its own, which replace one of the same name. */
export function scorersOf(definition: EvalDefinition, evalCase: EvalCase): readonly Scorer[] {
  const { scorers: own = [], name } = evalCase;
  if (own.length === 0) return definition.scorers;
  const names = new Set(checkedScorers(`case ${show(name)}`, own).map((one) => one.name));
  return [...definition.scorers.filter((one) => !names.has(one.name)), ...own];
}
