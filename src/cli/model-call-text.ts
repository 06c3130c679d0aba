import { countText, durationText } from '../number-text.ts';
import type {
  ModelCallDocument,
  PayloadText,
  RequestDocument,
  RequestMessage,
} from '../trace/index.ts';
import { visibleLines } from '../visible-text.ts';
import type { Paint } from './paint.ts';

const missing: Readonly<Record<Exclude<ModelCallDocument['status'], 'stored'>, string>> = {
  pruned: 'The request was pruned: its step is not in the store any more.',
  not_recorded: 'The request was not recorded, because an earlier release ran this step.',
  not_called: 'This step called no model.',
};

/** Returns what the model was sent in one step, and what it answered. */
export function modelCallLines(call: ModelCallDocument, paint: Paint): readonly string[] {
  const { status, attempts, request, response, step } = call;
  const lines = [paint('bold', `Step ${step}: model call`)];
  for (const { step: number, model, requestId, error, durationMs } of attempts)
    lines.push(
      line([
        `  step ${number}`,
        model ?? 'model',
        durationText(durationMs),
        ...(requestId === null ? [] : [`request ${requestId}`]),
        ...(error === null ? [] : [`${error.code}: ${error.message}`]),
      ]),
    );
  if (status !== 'stored') lines.push('', missing[status]);
  if (request) lines.push(...requestLines(request, paint));
  if (response) {
    const { content, reasoning, calls, finishReason } = response;
    lines.push('', paint('bold', `Response (${finishReason ?? 'interrupted'})`));
    if (reasoning) lines.push(paint('dim', 'reasoning'), ...textLines(reasoning));
    if (content) lines.push(...textLines(content));
    for (const { name, args } of calls) lines.push(called(name), ...textLines(args, '    '));
  }
  return lines;
}

function requestLines(request: RequestDocument, paint: Paint): readonly string[] {
  const { tokens, since, system, tools, toolChoice, messages } = request;
  const lines = ['', paint('bold', `Request (about ${countText(tokens)} tokens)`)];
  const change = (part: string): string =>
    since === null || part === 'first' ? '' : `, ${part} since step ${since.step}`;
  if (system) {
    lines.push(
      paint('dim', `system prompt (${countText(system.tokens)} tokens${change(system.change)})`),
    );
    lines.push(...textLines(system.content));
  }
  if (tools) {
    const names = tools.names.join(', ');
    lines.push(
      paint(
        'dim',
        `${tools.count} tools (${countText(tools.tokens)} tokens${change(tools.change)})`,
      ),
    );
    lines.push(visibleLines(`  ${names}${tools.count > tools.names.length ? ', …' : ''}`));
  }
  lines.push(paint('dim', `tool choice: ${toolChoice}`));
  for (const message of messages.items) lines.push(...messageLines(message, paint));
  if (messages.next !== null)
    lines.push(paint('dim', `… ${messages.count - messages.next} more messages; see --json`));
  return lines;
}

function messageLines(message: RequestMessage, paint: Paint): readonly string[] {
  const { role, name, tokens, isNew, compaction, content, calls, files } = message;
  const title = [role, ...(name === null ? [] : [name]), `${countText(tokens)} tokens`];
  if (isNew) title.push('new');
  if (compaction) title.push(`summary of ${compaction.messages} messages`);
  return [
    paint('dim', title.join(' · ')),
    ...(content ? textLines(content) : []),
    ...calls.flatMap((call) => [called(call.name), ...textLines(call.args, '    ')]),
    ...files.map(({ type, mediaType = '' }) => visibleLines(`  [${type} ${mediaType}]`)),
  ];
}

function textLines({ text, characters }: PayloadText, indent: string = '  '): readonly string[] {
  const lines = text.split('\n').map((each) => visibleLines(`${indent}${each}`));
  const more = characters - text.length;
  return more > 0 ? [...lines, `${indent}… ${countText(more)} more characters`] : lines;
}

const line = (facts: readonly string[]): string => visibleLines(facts.join(' · '));

const called = (name: string): string => visibleLines(`  → ${name}`);
