import type { ContentPart } from '../messages/content-part.ts';
import type { Message } from '../messages/message.ts';
import { defineTool } from '../tools/define-tool.ts';
import { toolContent } from '../tools/tool-content.ts';
import type { ReadingContext } from '../tools/call-tool.ts';
import type { AnyTool } from '../tools/tool.ts';
import { safeEnd } from '../errors/excerpt.ts';
import { READ_RESULT } from './compaction.ts';

/** Most characters of a result that one call returns. */
const MAX_CHARACTERS = 10_000;
/** Most images and files that one call returns. */
const MAX_PARTS = 4;

interface ResultArgs {
  readonly id: string;
  readonly offset?: number;
}

/** A part of an earlier result. */
interface ResultPart {
  readonly text: string;
  readonly total_characters: number;
  /** Absent at the end of the text. */
  readonly next_offset?: number;
  readonly note?: string;
}

/** Reads a result that the model's view of the conversation leaves out. */
export const earlierResultTool: AnyTool = /* @__PURE__ */ defineTool({
  name: READ_RESULT,
  description:
    'Reads an earlier tool result of this conversation that was left out to save space, by the id in its note. Returns ' +
    'up to 10,000 characters; pass next_offset as offset to read on.',
  parameters: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id in the note, such as "msg_4f0z".' },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'The first character to read. Default 0.',
      },
    },
    required: ['id'],
    additionalProperties: false,
  },
  idempotent: true,
  maxResultChars: 20_000,
  execute: async (args, context) => {
    const { id, offset = 0 }: ResultArgs = args;
    const message = await foundResult(id, context as ReadingContext);
    if (message === null)
      throw new Error(
        'This conversation has no result with this id. Use the id in the note of a result.',
      );
    return partOf(message, offset);
  },
});

/** Reads from the loaded messages of this agent, else from its stored ones. Never from another agent or session. */
async function foundResult(id: string, context: ReadingContext): Promise<Message | null> {
  const { messages } = context.state;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages.at(i);
    if (message?.id === id) return message.isTool() ? message : null;
  }
  const stored = await context.earlierResult(id);
  return stored?.isTool() === true ? stored : null;
}

function partOf({ content, text }: Message, offset: number): unknown {
  const start = Math.min(offset, text.length);
  const end = start + safeEnd(text.slice(start), MAX_CHARACTERS);
  const others: readonly ContentPart[] =
    typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');
  const left = others.length - MAX_PARTS;
  const read: ResultPart = {
    text: text.slice(start, end),
    total_characters: text.length,
    ...(end < text.length && { next_offset: end }),
    ...(left > 0 && { note: `${left} more images or files are not shown.` }),
  };
  if (others.length === 0 || start > 0) return read;
  return toolContent([{ type: 'json', value: read }, ...others.slice(0, MAX_PARTS)] as never);
}
