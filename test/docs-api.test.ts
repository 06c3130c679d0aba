import { readPublicApi, keyOf, type PublicName } from '../docs-tools/public-api.ts';
import { references } from '../docs-tools/pages.ts';
import { renderApi } from '../docs-tools/render-api.ts';
import { describe, expect, it } from 'vitest';

const api = readPublicApi();
const names = api.subpaths.flatMap((subpath) => subpath.names);
const isValue = ({ declarations }: PublicName): boolean =>
  declarations.some(({ kind }) => kind === 'function' || kind === 'class' || kind === 'const');
const isSilent = ({ declarations }: PublicName): boolean =>
  declarations.every(({ comment }) => comment === '');

/** Functions, classes and constants that need no comment. */
const sayThemselves: readonly string[] = [
  'AgentStatus',
  'ErrorHandlingDecision',
  'ErrorType',
  'MessageRole',
  'channelOf',
  'hasToolError',
  'isToolCallMessage',
  'isToolResultMessage',
];

describe('the API reference', () => {
  it('matches the sources (npm run docs updates it)', async () => {
    const now = new Map((await renderApi(api)).map(({ file, text }) => [`docs/api/${file}`, text]));
    const kept = new Map(references().map(({ file, text }) => [file, text]));
    const stale = [...new Set([...now.keys(), ...kept.keys()])].filter(
      (file) => now.get(file) !== kept.get(file),
    );
    expect(stale, 'run `npm run docs`').toEqual([]);
  });

  it.each(api.subpaths)('$specifier: lists every importable name', async (subpath) => {
    const module = (await import(/* @vite-ignore */ subpath.specifier)) as object;
    const values = subpath.names.filter(isValue).map(({ name }) => name);
    expect(values.toSorted()).toEqual(Object.keys(module).toSorted());
    expect(subpath.names.every(({ declarations }) => declarations.length > 0)).toBe(true);
  });

  it('every function, class and constant has a comment', () => {
    const silent = names.filter((one) => isValue(one) && isSilent(one)).map(({ name }) => name);
    expect(silent.toSorted()).toEqual(sayThemselves);
  });

  it('every type has a comment, or another declaration uses it', () => {
    const used = new Set([...names, ...api.shapes].flatMap(({ uses }) => uses));
    const alone = names.filter(
      (one) =>
        isSilent(one) && !isValue(one) && !one.declarations.some((each) => used.has(keyOf(each))),
    );
    expect(alone.map(({ name }) => name)).toEqual([]);
  });
});
