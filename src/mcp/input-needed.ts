import { isRecord } from '../json.ts';
import type { ToolFailure } from '../tools/tool-failure.ts';
import { mcpFailure } from './mcp-failure.ts';

/** What a server asks for before it can finish a call. */
export interface InputNeeded {
  readonly server: string;
  readonly tool: string;
  readonly inputRequests: Readonly<Record<string, unknown>>;
  /** State that the server needs back, verbatim; absent if it holds the request itself. */
  readonly requestState?: string;
}

const MAX_QUESTIONS = 5;
const MAX_TEXT = 300;

/** Returns what a result asks for; null if the call is finished. */
export function inputNeededBy(
  server: string,
  tool: string,
  result: Readonly<Record<string, unknown>>,
): InputNeeded | null {
  if (result['resultType'] !== 'input_required') return null;
  const { inputRequests, requestState } = result;
  return {
    server,
    tool,
    inputRequests: isRecord(inputRequests) ? inputRequests : {},
    ...(typeof requestState === 'string' && { requestState }),
  };
}

/** Code of a server of the older generation that asks for a visit to a URL. */
const URL_NEEDED = -32_042;

/** Returns what an error asks for; null if it asks for nothing. */
export function urlNeededBy(server: string, tool: string, error: unknown): InputNeeded | null {
  const cause = isRecord(error) ? error['cause'] : undefined;
  if (!isRecord(cause) || cause['code'] !== URL_NEEDED) return null;
  const data = isRecord(cause['data']) ? cause['data'] : {};
  const asked: readonly unknown[] = Array.isArray(data['elicitations']) ? data['elicitations'] : [];
  const inputRequests = Object.fromEntries(asked.map((params, i) => [String(i), { params }]));
  return { server, tool, inputRequests };
}

/** Ends a call that needs input, with a result that says what was asked. */
export function endForInput({ server, tool, inputRequests }: InputNeeded): ToolFailure {
  const questions = Object.values(inputRequests).slice(0, MAX_QUESTIONS).map(questionText);
  return mcpFailure(
    'input_required',
    `"${tool}" of ${server} needs input from a person, and none was given: ${questions.join('; ') || 'no question'}. ` +
      'The call did not finish. Ask the user, and call it with what they say if it takes that as an argument.',
  );
}

function questionText(request: unknown): string {
  const params = isRecord(request) && isRecord(request['params']) ? request['params'] : {};
  const { message, url, requestedSchema } = params;
  const text = typeof message === 'string' ? message : 'a question without text';
  const schema = isRecord(requestedSchema) ? requestedSchema['properties'] : undefined;
  const names = isRecord(schema) ? Object.keys(schema).slice(0, 20).join(', ') : '';
  const fields = names === '' ? '' : ` (fields: ${names})`;
  const address = typeof url === 'string' ? ` (at ${url})` : '';
  return JSON.stringify(`${text}${fields}${address}`.slice(0, MAX_TEXT));
}
