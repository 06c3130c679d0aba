// A small MCP server over stdio: it keeps notes in memory.
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const notes = ['Buy oil for the lamp.'];

serveStdio(() => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const text = (value) => ({ content: [{ type: 'text', text: value }] });
  server.registerTool(
    'search',
    {
      description: 'Searches the notes.',
      inputSchema: z.object({ word: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ word }) => text(notes.filter((note) => note.includes(word)).join('\n') || 'nothing found'),
  );
  server.registerTool(
    'clear',
    {
      description: 'Deletes all notes.',
      inputSchema: z.object({}),
      annotations: { destructiveHint: true },
    },
    () => text(`deleted ${notes.splice(0).length}`),
  );
  server.registerTool(
    'share',
    { description: 'Shares the newest note.', inputSchema: z.object({}) },
    (_args, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'with');
      if (answer)
        return text(`shared "${String(mcpReq.requestState())}" with ${String(answer.name)}`);
      const note = notes.at(-1) ?? 'none';
      return inputRequired({
        inputRequests: {
          with: inputRequired.elicit({
            message: `With whom do you want to share "${note}"?`,
            requestedSchema: {
              type: 'object',
              properties: { name: { type: 'string' } },
              required: ['name'],
            },
          }),
        },
        // comes back with the answer, to any instance of this server
        requestState: note,
      });
    },
  );
  server.registerResource('newest', 'notes://newest', { mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'notes://newest', mimeType: 'text/plain', text: notes.at(-1) ?? 'none' }],
  }));
  return server;
});
