import { partsOf } from '../../agent/agent.ts';
import { listPriceSource } from '../../inference/list-prices.ts';
import { listPrices, priceOf } from '../../inference/price-list.ts';
import type { Price, TokenPrices } from '../../inference/prices.ts';
import { countText } from '../../number-text.ts';
import { entriesOf } from '../check-config.ts';
import { projectOptions, type CliContext } from '../cli-context.ts';
import { oneLine } from '../format.ts';
import { textTable, type Column } from '../text-table.ts';

interface Row {
  readonly model: string;
  readonly price: Price;
  /** Agent of the config that has its own price of the model; null for a list price. */
  readonly agent: string | null;
}

/** Prints the prices of models: own ones of the config first, then list prices. Opens no store. */
export async function prices(context: CliContext, words: readonly string[]): Promise<number> {
  const own = await ownPrices(context);
  const asked = words.map((word) => ({ word, rows: rowsFor(word, own) }));
  const rows = words.length === 0 ? [...own, ...listRows(Object.keys(listPrices))] : unique(asked);
  const unknown = asked.filter((one) => one.rows.length === 0).map(({ word }) => word);
  if (context.isJson) {
    const { name, version, date } = listPriceSource;
    const source = { name, version, date };
    context.printJson({ type: 'prices', source, prices: rows.map(jsonOf), unknown });
    return 0;
  }
  for (const line of rows.length > 0 ? table(context, rows) : []) context.print(line);
  for (const word of unknown) context.note(unknownText(word));
  const { name, version, date } = listPriceSource;
  const source = `US dollars per million tokens. List prices: ${name} ${version}, ${date}.`;
  context.note(context.paintNote('dim', source));
  return 0;
}

/** Returns the prices that agents of the config set for their models. */
async function ownPrices(context: CliContext): Promise<readonly Row[]> {
  const { config } = await projectOptions(context);
  return (config ? entriesOf(config) : []).flatMap(({ agent }) =>
    (partsOf(agent)?.definition.models ?? []).flatMap(({ driver: { model }, price }): Row[] =>
      model === undefined || !price || price === priceOf(model)
        ? []
        : [{ model, price, agent: agent.name }],
    ),
  );
}

const listRows = (models: readonly string[]): readonly Row[] =>
  models.flatMap((model) => {
    const price = listPrices[model];
    return price ? [{ model, price, agent: null }] : [];
  });

/** Returns the prices of a model, and of all whose name begins with this one. */
function rowsFor(word: string, own: readonly Row[]): readonly Row[] {
  const model = word.replace(/^[\w-]+:/, '');
  const begins = (name: string): boolean => model !== '' && name.startsWith(model);
  const listed = listRows(Object.keys(listPrices).filter(begins));
  // a name with a date or behind a gateway is not in the list itself
  const price = Object.hasOwn(listPrices, model) ? null : priceOf(model);
  return [
    ...own.filter((row) => begins(row.model)),
    ...(price ? [{ model, price, agent: null }] : []),
    ...listed,
  ];
}

/** Leaves out what two words have found, and puts own prices first. */
function unique(asked: readonly { readonly rows: readonly Row[] }[]): readonly Row[] {
  const all = asked.flatMap(({ rows }) => rows);
  const rows = new Map(all.map((row) => [JSON.stringify([row.agent, row.model]), row])).values();
  return [...rows].toSorted((a, b) => Number(a.agent === null) - Number(b.agent === null));
}

const columns: readonly Column[] = [
  { title: 'MODEL' },
  { title: 'INPUT', align: 'right' },
  { title: 'OUTPUT', align: 'right' },
  { title: 'CACHED', align: 'right' },
  { title: 'WRITE', align: 'right' },
  { title: 'WRITE 1H', align: 'right' },
  { title: '' },
];

function table({ paint }: CliContext, rows: readonly Row[]): string[] {
  const cells = rows.flatMap(({ model, price, agent }) => [
    [oneLine(model, 30), ...amounts(price), agent === null ? '' : `config: ${oneLine(agent, 20)}`],
    ...(price.above
      ? [[`  > ${countText(price.above.tokens)} input`, ...amounts(price.above), '']]
      : []),
  ]);
  return textTable(columns, cells, paint, (text, column, row) => {
    if (column === 6) return paint('yellow', text);
    const isModel = column === 0 && !cells[row]?.[0]?.startsWith(' ');
    return isModel ? paint('cyan', text) : text;
  });
}

const amounts = (price: TokenPrices): string[] =>
  [price.input, price.output, price.cachedInput, price.cacheWrite, price.cacheWrite1h].map(
    (amount) => (amount === undefined ? '-' : countText(amount)),
  );

const jsonOf = ({ model, price, agent }: Row) => ({
  model,
  source: agent === null ? 'list' : 'config',
  agent,
  ...jsonAmounts(price),
  above: price.above ? { tokens: price.above.tokens, ...jsonAmounts(price.above) } : null,
});

const jsonAmounts = (price: TokenPrices) => ({
  input: price.input,
  output: price.output,
  cached_input: price.cachedInput ?? null,
  cache_write: price.cacheWrite ?? null,
  cache_write_1h: price.cacheWrite1h ?? null,
});

const unknownText = (word: string): string => {
  const name = JSON.stringify(oneLine(word, 60));
  return `The price of ${name} is unknown. Set yours: createAgent({ prices: { ${name}: { input: 1, output: 2 } } })`;
};
