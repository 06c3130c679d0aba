import { format } from 'oxfmt';
import { countedAnchor } from './markdown.ts';
import { byName, keyOf, type PublicApi, type PublicName } from './public-api.ts';
import type { Declaration } from './read-module.ts';

export interface Page {
  readonly file: string;
  readonly text: string;
}

interface Place {
  readonly file: string;
  readonly anchor: string;
}

interface Sheet {
  readonly file: string;
  readonly title: string;
  readonly intro: string;
  readonly names: readonly PublicName[];
}

const style = { singleQuote: true, printWidth: 100 } as const;
const note = '<!-- Written by `npm run docs` from the sources. Change the comments there. -->';
const shapesFile = 'shapes.md';

/** The API reference as Markdown: a page per subpath, one for what cannot be imported, and an index. */
export async function renderApi(api: PublicApi): Promise<readonly Page[]> {
  const { subpaths, shapes } = api;
  const sheets: readonly Sheet[] = [
    ...subpaths.map(({ specifier, names }) => ({
      file: `${specifier.replace(/^onward\//, '').replaceAll('/', '-')}.md`,
      title: `\`${specifier}\``,
      intro: '',
      names,
    })),
    {
      file: shapesFile,
      title: 'Shapes',
      intro: 'Types that signatures mention and that you cannot import.',
      names: shapes,
    },
  ];
  const links = placesOf(sheets);
  const users = usersOf(api);
  const pages = await Promise.all(
    sheets.map(async (sheet) => ({
      file: sheet.file,
      text: [
        note,
        `# ${sheet.title}`,
        sheet.intro,
        contents(sheet),
        ...(await Promise.all(sheet.names.map((name) => entry(name, sheet, links)))),
      ].join('\n\n'),
    })),
  );
  pages.push({ file: 'README.md', text: index(sheets, links, users) });
  return Promise.all(
    pages.map(async ({ file, text }) => ({ file, text: (await format(file, text, style)).code })),
  );
}

/** Where every declaration stands; what several subpaths export has several places. */
function placesOf(sheets: readonly Sheet[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const { file, title, names } of sheets) {
    const counts = new Map<string, number>();
    countedAnchor(title, counts);
    for (const { name, declarations } of names) {
      const anchor = countedAnchor(name, counts);
      for (const key of new Set(declarations.map(keyOf)))
        places.set(key, [...(places.get(key) ?? []), { file, anchor }]);
    }
  }
  return places;
}

/** Public names by what they mention, directly or through a shape. */
function usersOf({ subpaths, shapes }: PublicApi): ReadonlyMap<string, readonly string[]> {
  const through = new Map(shapes.flatMap((one) => one.declarations.map((d) => [keyOf(d), one])));
  const users = new Map<string, string[]>();
  for (const { name, uses } of subpaths.flatMap(({ names }) => names)) {
    const reached = new Set(uses);
    for (const key of reached) for (const inner of through.get(key)?.uses ?? []) reached.add(inner);
    for (const key of reached) users.set(key, [...(users.get(key) ?? []), name]);
  }
  return users;
}

type Links = ReturnType<typeof placesOf>;

function linkTo(key: string, from: string, links: Links): string | null {
  const places = links.get(key) ?? [];
  const place = places.find(({ file }) => file === from) ?? places[0];
  return place === undefined ? null : `${place.file === from ? '' : place.file}#${place.anchor}`;
}

const titles: readonly (readonly [title: string, kinds: readonly Declaration['kind'][]])[] = [
  ['Functions', ['function']],
  ['Classes', ['class']],
  ['Constants', ['const']],
  ['Types', ['interface', 'type']],
];

/** What runs comes before what only types. */
const kindsOf = ({ declarations }: PublicName): readonly Declaration['kind'][] =>
  titles
    .flatMap(([, kinds]) => kinds)
    .filter((kind) => declarations.some((one) => one.kind === kind));

function contents({ title, names }: Sheet): string {
  const counts = new Map<string, number>();
  countedAnchor(title, counts);
  const anchored = names.map((one) => ({ one, anchor: countedAnchor(one.name, counts) }));
  return titles
    .map(([heading, kinds]) => {
      const of = anchored.filter(({ one }) => kinds.includes(kindsOf(one)[0] ?? 'type'));
      const list = of.map(({ one, anchor }) => `[${one.name}](#${anchor})`).join(', ');
      return list === '' ? '' : `**${heading}**: ${list}`;
    })
    .filter((line) => line !== '')
    .join('\n\n');
}

async function entry(one: PublicName, { file }: Sheet, links: Links): Promise<string> {
  const code = await Promise.all(one.declarations.map(signature));
  const comments = new Set(one.declarations.map(({ comment }) => linked(comment, file, links)));
  const sources = [...new Set(one.declarations.map((declaration) => declaration.file))];
  const uses = one.uses
    .map((key) => ({ name: key.split('#')[1] ?? '', link: linkTo(key, file, links) }))
    .toSorted(byName)
    .map(({ name, link }) => `[${name}](${link})`);
  return [
    `## \`${one.name}\``,
    `${kindsOf(one).join(' and ')} in ${sources.map((source) => `[${source}](../../${source})`).join(', ')}`,
    ...comments,
    `\`\`\`ts\n${code.join('\n\n')}\n\`\`\``,
    uses.length === 0 ? '' : `Mentions ${uses.join(', ')}.`,
  ].join('\n\n');
}

async function signature({ text, file, name }: Declaration): Promise<string> {
  const { code, errors } = await format('signature.d.ts', `declare ${text}`, style);
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`${name} of ${file}: ${problem.message}`);
  return code
    .trim()
    .replace(/^declare /, '')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`');
}

/** `{@link Name}` as a link, if there is such a name. */
const linked = (comment: string, from: string, links: Links): string =>
  comment.replaceAll(/\{@link (\w+)\}/g, (_tag, name: string) => {
    const key = [...links.keys()].find((one) => one.endsWith(`#${name}`));
    const link = key === undefined ? null : linkTo(key, from, links);
    return link === null ? `\`${name}\`` : `[${name}](${link})`;
  });

function index(
  sheets: readonly Sheet[],
  links: Links,
  users: ReadonlyMap<string, readonly string[]>,
): string {
  const what = ({ declarations }: PublicName): string => {
    const said = declarations.map(({ comment }) => comment).find((comment) => comment !== '');
    if (said !== undefined) return linked(firstSentence(said), 'README.md', links);
    const by = [...new Set(declarations.flatMap((one) => users.get(keyOf(one)) ?? []))];
    const some = by.slice(0, 3).map((name) => `\`${name}\``);
    return some.length === 0 ? '' : `Used by ${some.join(', ')}.`;
  };
  const lists = sheets
    .filter(({ file }) => file !== shapesFile)
    .map(({ file, title, names }) => {
      const rows = names.map((one) => {
        const [first] = one.declarations;
        const link = first === undefined ? file : linkIn(file, keyOf(first), links);
        return `- [\`${one.name}\`](${link}), ${kindsOf(one).join(' and ')}. ${what(one)}`;
      });
      return `## [${title}](${file})\n\n${rows.join('\n')}`;
    });
  const intro = `Every name of every subpath, with its comment and its signature. [Shapes](${shapesFile}) has the types that signatures mention and that you cannot import.`;
  return [note, '# API reference', intro, ...lists].join('\n\n');
}

const linkIn = (file: string, key: string, links: Links): string => {
  const place = links.get(key)?.find((one) => one.file === file);
  return `${file}#${place?.anchor ?? ''}`;
};

const firstSentence = (text: string): string =>
  /^[\s\S]*?[.!?](?=\s+[A-Z`]|\s*$)/.exec(text)?.[0] ?? text;
