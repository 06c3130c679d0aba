import type { JsonObject } from '../../json.ts';

/** Instruction for servers that accept no schema; the loop checks the answer anyway. */
export const schemaNote = (schema: JsonObject): string =>
  `Answer with one JSON value that follows this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
