import type { ToolResult } from '../../src/tools/tool-result.ts';
import type { Effect } from './effect-log.ts';
import { resultOf, traits } from './kill-agent.ts';

/** One call of an execution, from the agent of the session or a nested agent. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly result: ToolResult | undefined;
}

export interface Fate {
  /** How many times the tool started. */
  readonly begins: number;
  readonly isUnknown: boolean;
  /** Whether an idempotent tool started more than once. */
  readonly isBegunAgain: boolean;
  readonly problems: readonly string[];
}

/** Compares the result of a call with the effects that its execution logged. */
export function fateOf(
  { id, tool, result }: Call,
  starts: number,
  effects: readonly Effect[],
  isStopped: boolean,
): Fate {
  const trait = traits[tool];
  // for a nested agent, its own calls are checked
  if (!trait) return { begins: 0, isUnknown: false, isBegunAgain: false, problems: [] };
  const lines = effects.filter(({ subject, detail }) => subject === id || detail === id);
  const of = (kind: Effect['kind'], type?: string): readonly Effect[] =>
    lines.filter((e) => e.kind === kind && (type ?? e.what) === e.what);
  const begins = of('begin').length;
  const ends = of('end').length;
  const what = `${id} (${tool}), which began ${begins} times, ended ${ends} times and was started ${starts} times,`;
  const problems: string[] = [];
  const wrong = (problem: string): void => void problems.push(`${what} ${problem}`);
  const isUnknown = result?.error?.code === 'effect_unknown';
  const isBegunAgain = trait.idempotent === true && begins > 1;

  if (begins > starts) wrong('began without a start');
  answered();
  if (result?.kind === 'ok') ran();
  else if (isUnknown) {
    if (trait.idempotent || result?.error?.type !== 'unknown') wrong('is "unknown"');
    if (begins > 1 || starts !== 1) wrong('ran again although its effect is unknown');
  } else if (result?.kind === 'aborted' && isStopped && (begins <= 1 || trait.idempotent)) {
    const [began, closed] = [of('begin'), of('received', 'ToolCallCompleted')].map(([e]) => e?.pid);
    if (!trait.idempotent && began !== undefined && closed !== undefined && began !== closed)
      wrong('is "aborted", and what the process did that began it is unknown');
  } else if (!(result?.kind === 'denied' && begins === 0 && trait.needsApproval))
    wrong(`has the result ${JSON.stringify(result)}`);
  return { begins, isUnknown, isBegunAgain, problems };

  function ran(): void {
    if (typeof result?.value !== 'string' || !result.value.startsWith(resultOf(tool, id)))
      wrong('has the result of another');
    if (!trait?.idempotent) {
      if (begins !== 1 || ends !== 1 || starts !== 1) wrong('is said to be ok');
      return;
    }
    if (begins < 1 || ends < 1) wrong('is said to have run');
    const reported = lines.findIndex((line) => line.what === 'ToolCallCompleted');
    if (reported >= 0 && lines.slice(reported).some(({ kind }) => kind === 'begin'))
      wrong('began again after its result was known');
  }

  /** Checks that a call is answered once, that the answer counts, and that nothing starts before an approval. */
  function answered(): void {
    const answers = of('answered');
    if (answers.length > 1) wrong(`was answered ${answers.length} times`);
    const began = lines.findIndex(({ kind }) => kind === 'begin');
    const approved = lines.findIndex((e) => e.kind === 'answering' && e.what === 'approve');
    if (trait?.needsApproval && began >= 0 && (approved < 0 || approved > began))
      wrong('began before anybody approved it');
    const [answer] = answers;
    if (!answer || result?.kind === 'aborted') return;
    if ((answer.what === 'deny') !== (result?.kind === 'denied'))
      wrong(`was answered with ${answer.what}, and is ${result?.kind}`);
  }
}
