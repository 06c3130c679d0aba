import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keyOf, readPublicApi, type PublicName } from '../docs-tools/public-api.ts';

/** Read from the sources. test/docs-api.test.ts compares the values with the importable names. */
const { subpaths } = readPublicApi();
const namesOf = (specifier: string): readonly PublicName[] =>
  subpaths.find((subpath) => subpath.specifier === specifier)?.names ?? [];

const isType = ({ declarations }: PublicName): boolean =>
  declarations.every(({ kind }) => kind === 'interface' || kind === 'type');
const wordsOf = (names: readonly PublicName[]): string[] =>
  names.map(({ name }) => name).toSorted();

/** The files that declare a name, with its name there. */
const originOf = ({ declarations }: PublicName): string =>
  [...new Set(declarations.map(keyOf))].toSorted().join(', ');

/** Names that have different meanings in two subpaths. */
function ambiguous(modules: typeof subpaths): readonly string[] {
  const origins = new Map<string, Map<string, string>>();
  for (const { specifier, names } of modules)
    for (const one of names) {
      const known = origins.get(one.name) ?? new Map<string, string>();
      origins.set(one.name, known.set(originOf(one), specifier));
    }
  return [...origins]
    .filter(([, known]) => known.size > 1)
    .map(([name, known]) => `${name} in ${[...known.values()].join(' and ')}`);
}

describe('public API', () => {
  it('has exactly these subpaths', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
    expect(Object.keys(exports)).toEqual([
      '.',
      './testing',
      './drivers',
      './drivers/openai',
      './drivers/ai-sdk',
      './stores',
      './stores/memory',
      './stores/sqlite',
      './stores/postgres',
      './stores/key-value',
      './bus',
      './bus/postgres',
      './bus/redis',
      './queues/bullmq',
      './broadcasting',
      './broadcasting/pusher',
      './broadcasting/use-chat',
      './capabilities',
      './exports',
      './telemetry',
      './evals',
      './evals/node',
      './evals/vitest',
      './evals/vitest-evals',
      './replay',
      './mcp',
      './mcp/server',
      './ag-ui',
      './ui',
      './react',
      './react/styles.css',
      './server',
      './server/node',
      './config',
      './package.json',
    ]);
  });

  it.each(subpaths.map(({ specifier, names }) => [specifier, names] as const))(
    '%s exports exactly these names',
    (_specifier, names) => {
      const types = wordsOf(names.filter(isType));
      const values = wordsOf(names.filter((one) => !isType(one)));
      expect({ values, types }).toMatchSnapshot();
    },
  );

  it('onward exports fewer than 120 names, including types', () => {
    const { length } = namesOf('onward');
    expect(length).toBeGreaterThan(80);
    expect(length).toBeLessThan(120);
  });

  it('src/index.ts has no wildcard export', () => {
    expect(readFileSync('src/index.ts', 'utf8')).not.toContain('export *');
  });

  it('a name means the same in every subpath', () => {
    expect(ambiguous(subpaths)).toEqual([]);
    expect(namesOf('onward/drivers').map(({ name }) => name)).toContain('InferenceDriver');
    expect(namesOf('onward').map(({ name }) => name)).toContain('InferenceDriver');
  });

  it('the check finds a name with two meanings', () => {
    const declared = (file: string): PublicName => ({
      name: 'Row',
      declarations: [
        { file, name: 'Row', kind: 'type', comment: '', text: 'type Row', mentions: [] },
      ],
      uses: [],
    });
    const modules = ['a', 'b'].map((specifier) => ({ specifier, names: [declared(specifier)] }));
    expect(ambiguous(modules)).toEqual(['Row in a and b']);
    expect(ambiguous(modules.slice(1))).toEqual([]);
  });

  it('replaced names are gone', () => {
    const retired =
      /^(?:sessionDesk|SessionDesk|sessionStore|SessionStoreOptions|uiMessagesOf|uiMessagesFrom|Cut|ApprovalsProps|BroadcasterRig|AgentStream)$/;
    const all = subpaths.flatMap(({ names }) => wordsOf(names));
    expect(all.filter((name) => retired.test(name))).toEqual([]);
    // core names that other subpaths used with another meaning
    for (const [name, home] of [
      ['SessionStore', 'onward/stores'],
      ['CallRow', 'onward/stores'],
      ['Approvals', 'onward'],
    ] as const)
      expect(
        subpaths.filter(({ names }) => names.some((one) => one.name === name)),
        name,
      ).toEqual([expect.objectContaining({ specifier: home })]);
  });
});
