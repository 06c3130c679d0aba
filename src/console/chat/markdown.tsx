import {
  Fragment,
  memo,
  useMemo,
  useRef,
  type MemoExoticComponent,
  type ReactElement,
  type ReactNode,
} from 'react';
import { cellsOf, parseBlocks, type Block } from './markdown-blocks.ts';
import { mended, parseInline, type Inline } from './markdown-inline.ts';

export interface MarkdownProps {
  readonly text: string;
  /** More may come: marks that are open at the end are taken as closed. */
  readonly isStreaming?: boolean;
  /** Behind the last word, such as a caret. */
  readonly end?: ReactNode;
}

/** The words of a model. Drawn from data, never as HTML: what looks like a tag is text. */
export function Markdown({ text, isStreaming = false, end = null }: MarkdownProps): ReactElement {
  const before = useRef<readonly Block[]>([]);
  const blocks = useMemo(
    // parts that say the same stay the same objects, so that only the last one is drawn anew
    () => (before.current = keepingOld(before.current, readBlocks(text, isStreaming))),
    [text, isStreaming],
  );
  return (
    <div className="md">
      {blocks.map((block, place) => (
        <BlockView key={place} block={block} end={place === blocks.length - 1 ? end : null} />
      ))}
      {blocks.length === 0 && end}
    </div>
  );
}

/** Exported for tests. */
export function readBlocks(text: string, isStreaming: boolean): readonly Block[] {
  const blocks = parseBlocks(text);
  const last = blocks.at(-1);
  return isStreaming && last ? [...blocks.slice(0, -1), unfinished(last)] : blocks;
}

function unfinished(block: Block): Block {
  if (block.kind === 'list') {
    const items = block.items.map((item, place) => {
      const tail = item.at(-1);
      return place === block.items.length - 1 && tail
        ? [...item.slice(0, -1), unfinished(tail)]
        : item;
    });
    return { ...block, items };
  }
  if (block.kind !== 'paragraph') return block;
  // the head of a table is one before the line below it has come
  if (/^\|.*\|/.test(block.text)) {
    const head = cellsOf(block.text.split('\n')[0] ?? '');
    return { kind: 'table', head, align: [], rows: [], raw: block.raw };
  }
  // a line of marks alone will be something else in a moment
  return {
    ...block,
    text: mended(
      block.text.replace(/(?:^|\n)(?:#{1,6}|[-*+>|]|\d{1,3}[.)]?|[-*_]{2}|`{1,2})$/, ''),
    ),
  };
}

const keepingOld = (before: readonly Block[], after: readonly Block[]): readonly Block[] =>
  after.map((block, place) => {
    const old = before[place];
    // the last one may read differently with the same text, once it is finished
    return old?.raw === block.raw && place < Math.min(before.length, after.length) - 1
      ? old
      : block;
  });

interface BlockViewProps {
  readonly block: Block;
  readonly end: ReactNode;
}

const BlockView: MemoExoticComponent<(props: BlockViewProps) => ReactElement> = memo(
  function BlockView({ block, end }: BlockViewProps): ReactElement {
    switch (block.kind) {
      case 'heading':
        return <Heading level={block.level}>{<Words text={block.text} end={end} />}</Heading>;
      case 'code':
        return (
          <pre
            tabIndex={0}
            role="group"
            aria-label={`Code${block.language && ` in ${block.language}`}`}
          >
            <code>
              {block.text}
              {end}
            </code>
          </pre>
        );
      case 'rule':
        return <hr />;
      case 'quote':
        return (
          <blockquote>
            {block.blocks.map((inner, i) => drawn(inner, i, block.blocks, end))}
          </blockquote>
        );
      case 'list': {
        const items = block.items.map((blocks, place) => (
          <li key={place}>
            {blocks.map((inner, i) =>
              drawn(inner, i, blocks, place === block.items.length - 1 ? end : null),
            )}
          </li>
        ));
        return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
      }
      case 'table':
        return <Table block={block} />;
      default:
        return (
          <p>
            <Words text={block.text} end={end} />
          </p>
        );
    }
  },
);

/** A paragraph that is all of its item needs no space around it. */
function drawn(block: Block, place: number, among: readonly Block[], end: ReactNode): ReactElement {
  const mark = place === among.length - 1 ? end : null;
  return block.kind === 'paragraph' && place === 0 ? (
    <Words key={place} text={block.text} end={mark} />
  ) : (
    <BlockView key={place} block={block} end={mark} />
  );
}

/** The page has its title above: those of a text come below it. */
function Heading({
  level,
  children,
}: {
  readonly level: number;
  readonly children: ReactNode;
}): ReactElement {
  const Tag = level <= 1 ? 'h3' : level === 2 ? 'h4' : 'h5';
  return <Tag>{children}</Tag>;
}

function Table({ block }: { readonly block: Extract<Block, { kind: 'table' }> }): ReactElement {
  const { head, align, rows } = block;
  const style = (place: number) => ({ textAlign: align[place] ?? undefined });
  return (
    <div className="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col" style={style(i)}>
                <Words text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, i) => (
                <td key={i} style={style(i)}>
                  <Words text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Words({
  text,
  end = null,
}: {
  readonly text: string;
  readonly end?: ReactNode;
}): ReactElement {
  const parts = useMemo(() => parseInline(text), [text]);
  return (
    <>
      {parts.map(inline)}
      {end}
    </>
  );
}

function inline(part: Inline, key: number): ReactElement {
  switch (part.kind) {
    case 'break':
      return <br key={key} />;
    case 'code':
      return <code key={key}>{part.text}</code>;
    case 'strong':
      return <strong key={key}>{part.parts.map(inline)}</strong>;
    case 'em':
      return <i key={key}>{part.parts.map(inline)}</i>;
    case 'del':
      return <del key={key}>{part.parts.map(inline)}</del>;
    case 'link':
      return (
        <a key={key} href={part.href} target="_blank" rel="noopener noreferrer">
          {part.parts.map(inline)}
        </a>
      );
    default:
      return <Fragment key={key}>{part.text}</Fragment>;
  }
}
