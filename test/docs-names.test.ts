import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fencesOf, proseOf } from '../docs-tools/markdown.ts';
import { guides, type Page } from '../docs-tools/pages.ts';
import { readPublicApi } from '../docs-tools/public-api.ts';

const wordsIn = (text: string): readonly string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? [];

/** Every word in a public signature, without comments: names, members, parameters, literals. */
const { subpaths, shapes } = readPublicApi();
const declared = [...subpaths.flatMap(({ names }) => names), ...shapes].flatMap((one) => [
  one.name,
  ...one.declarations.flatMap(({ text }) => wordsIn(text.replaceAll(/\/\*[\s\S]*?\*\//g, ''))),
]);
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
  .map((file) => readFileSync(`src/${file}`, 'utf8'));
/** Criterion names and error codes appear in the sources as string literals. */
const said = sources.flatMap((text) => text.match(/'[\w.:-]+'/g) ?? []).flatMap(wordsIn);
const ours = new Set([...declared, ...said]);
const inside = new Set(sources.flatMap(wordsIn));

/** Names in the docs that belong to other software. Add valid ones here; fix the rest. */
const ofOthers = new Set(
  [
    'eventCountLimit setLogger', // OpenTelemetry
    'readOnlyHint idempotentHint destructiveHint', // MCP
    'JSON stringify parse toString innerHTML inspect', // JavaScript, Node and the browser
    'clientSecret privateKey', // names of secrets
    'useChat onData onFinish resumeStream addToolOutput streamText generateText fullStream ToolLoopAgent google', // AI SDK
    'getStateHistory interrupt Command RetryPolicy createReactAgent GraphRecursionError', // LangGraph
    'RunState fromString outputType MaxTurnsExceededError', // OpenAI Agents
    'approveToolCall suspend resumeData LibSQLStore PostgresStore inputProcessors outputProcessors MCPClient MCPServer', // Mastra
    'createTool generate inputSchema structuredOutput requireApproval instructions', // Mastra
    'CanDecideToContinue CanExplainContinuation CanResolveErrorContext AgentErrorContextResolver', // InstructorPHP
    'ErrorPresenceCheck RetryLimit ReverbAgentEventAdapter looksLikeToolCallArgs', // and applications on it
    'bearerToken toStandardJsonSchema StandardSchemaV1', // Echo, valibot, Standard Schema
    'use all', // Hono, Express
    'providerCalls', // a key of message metadata, not an export
    'utcOffset', // a query parameter
  ].flatMap(wordsIn),
);

/** Pages for contributors. */
const aboutSources = new Set(['ARCHITECTURE.md', 'CONTRIBUTING.md']);

/** Returns API names in inline code: `callOf(…)`, `object.member`, `twoWords`. */
function apiNamesIn(code: string): readonly string[] {
  const [head = ''] = code.split('(');
  if (!/^[\w$.]+$/.test(head) || /\.(?:[cm]?[jt]sx?|json|md|db|css)$/.test(head)) return [];
  const parts = head.split('.').filter((part) => /^[A-Za-z_$]/.test(part));
  // the object before a dot is usually a variable in the reader's code
  if (parts.length > 1) return parts.filter((part, i) => i > 0 || /^[A-Z]/.test(part));
  return code.includes('(') || /[a-z][A-Z]/.test(head) ? parts : [];
}

/** Removes the old-name column from tables of renames. */
const withoutOldNames = (text: string): string =>
  text.replaceAll(/(?<=^\| `onward[^|]*\|)[^|]*/gm, '');

/** Returns names on a page that do not exist in the API. */
function strangeIn({ file, text }: Page): readonly string[] {
  const shown = new Set(fencesOf(text).flatMap(({ code }) => wordsIn(code)));
  const known = aboutSources.has(file) ? inside : ours;
  return [
    ...proseOf(file === 'CHANGELOG.md' ? withoutOldNames(text) : text).matchAll(/`([^`\n]+)`/g),
  ]
    .flatMap(([, code = '']) => apiNamesIn(code))
    .filter((name) => !known.has(name) && !shown.has(name) && !ofOthers.has(name))
    .map((name) => `${file}: ${name}`);
}

describe('API names in the prose of the docs', () => {
  it('exist', () => {
    expect([...new Set(guides().flatMap(strangeIn))].toSorted()).toEqual([]);
  });

  it.each([
    ['`withMaxSteps(5)`, `state.stopReason`, `StopReason.Completed` and `npm run x`', []],
    ['`withMaxStep(5)`', ['withMaxStep']],
    ['`state.stopCause`', ['stopCause']],
    ['`AgentStateful`', ['AgentStateful']],
    ['`Messages.shuffle(list)`', ['shuffle']],
  ])('checks the names in %s', (text, strange) => {
    expect(strangeIn({ file: 'page', text })).toEqual(strange.map((name) => `page: ${name}`));
  });
});
