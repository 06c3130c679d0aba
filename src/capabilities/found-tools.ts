import { jsonText, type JsonObject } from '../json.ts';
import type { AnyTool } from '../tools/tool.ts';
import { visibleLines } from '../visible-text.ts';

/** Most characters of one description, and of all results together. */
const MAX_DESCRIPTION = 2_000;
const MAX_RESULT = 30_000;

/** A result of `search_tools`. */
export type FoundTool = {
  readonly name: string;
  readonly description: string;
  /** The schema of the arguments; absent if it did not fit. */
  readonly parameters?: JsonObject;
  readonly note?: string;
};

/** Describes the tools that a search has found, with their schemas as long as they fit. */
export function describeFound(tools: readonly AnyTool[]): readonly FoundTool[] {
  let left = MAX_RESULT;
  return tools.map(({ name, description: given, jsonSchema }) => {
    const description = visibleLines(
      given.length > MAX_DESCRIPTION ? `${given.slice(0, MAX_DESCRIPTION)}…` : given,
    );
    const size = jsonText(jsonSchema)?.length ?? 0;
    if (size + description.length <= left) {
      left -= size + description.length;
      return { name, description, parameters: jsonSchema };
    }
    const note =
      size > MAX_RESULT
        ? `Its schema is too long to show (${size} characters). Call it: the result says which arguments do not fit.`
        : 'Its schema is not shown here. Search for this name alone to see it.';
    return { name, description: description.slice(0, 200), note };
  });
}
