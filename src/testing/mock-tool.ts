import { counted } from '../number-text.ts';
import { AgentError } from '../errors/agent-error.ts';
import { defineTool, type ToolSpec } from '../tools/define-tool.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { Call, Tool, ToolContext } from '../tools/tool.ts';

/** What a mocked call does: return a value, throw an error, or compute a value. */
export type MockResult = unknown;

export interface MockTool<Name extends string = string> extends Tool<{}, Call<Name>> {
  /** Arguments of every call, in order. */
  readonly calls: readonly unknown[];
  readonly contexts: readonly MockContext[];
}

type MockContext = ToolContext<Record<string, unknown>>;

const anything: JsonSchema = { type: 'object' };

/**
 * Creates a tool that answers from a list and records its calls. An `Error` in the list is thrown, a function is
 * called with the arguments. A single answer serves every call; a list that runs out throws.
 */
export function mockTool<const Name extends string>(
  name: Name,
  answers: MockResult = 'ok',
  spec: Partial<Omit<ToolSpec, 'name' | 'execute'>> = {},
): MockTool<Name> {
  const calls: unknown[] = [];
  const contexts: MockContext[] = [];
  const tool = defineTool({
    description: `Mock of ${name}.`,
    parameters: anything,
    ...spec,
    name,
    execute(args, context: MockContext) {
      calls.push(args);
      contexts.push(context);
      if (Array.isArray(answers) && calls.length > answers.length)
        throw new AgentError(
          'script_exhausted',
          `mockTool("${name}") was called ${calls.length} times, but its list has ${counted(answers.length, 'answer')}. Add one, or find out why it is called again.`,
        );
      const answer: unknown = Array.isArray(answers) ? answers[calls.length - 1] : answers;
      if (answer instanceof Error) throw answer;
      return typeof answer === 'function'
        ? (answer as (args: unknown, context: MockContext) => unknown)(args, context)
        : answer;
    },
  });
  return Object.freeze({ ...tool, calls, contexts }); // accepts any arguments, and requires none
}
