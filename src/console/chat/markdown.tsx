import { Fragment, memo, type MemoExoticComponent, type ReactElement, type ReactNode } from 'react';
import { safeHref } from '../../react/safe-href.ts';
import type { MarkdownNode } from './markdown-tree.ts';
import { CodeBlock } from './code-block.tsx';
import { useMarkdown } from './use-markdown.ts';

export interface MarkdownProps {
  readonly text: string;
  /** Whether more text may arrive: open marks at the end count as closed. */
  readonly isStreaming?: boolean;
  /** Content after the last word, such as a caret. */
  readonly end?: ReactNode;
}

/** Renders the text of a model from data, never as HTML: tags in it are text. */
export function Markdown({ text, isStreaming = false, end = null }: MarkdownProps): ReactElement {
  const nodes = useMarkdown(text, isStreaming);
  return (
    <div className="md">
      {nodes.map((node, place) => (
        <Part key={place} node={node} end={place === nodes.length - 1 ? end : null} />
      ))}
      {nodes.length === 0 && end}
    </div>
  );
}

interface PartProps {
  readonly node: MarkdownNode;
  readonly end: ReactNode;
}

/** Renders one node; an unchanged node does not render again. */
const Part: MemoExoticComponent<(props: PartProps) => ReactElement> = memo(
  ({ node, end }: PartProps) => draw(node, end),
  (before, after) =>
    before.end === after.end &&
    before.node.type === after.node.type &&
    before.node.raw === after.node.raw,
);

/** Renders the children of a node, with the end content after the last word. */
const inside = ({ children }: MarkdownNode, end: ReactNode): ReactNode =>
  children.length === 0
    ? end
    : children.map((child, place) => (
        <Fragment key={place}>{draw(child, place === children.length - 1 ? end : null)}</Fragment>
      ));

function draw(node: MarkdownNode, end: ReactNode): ReactElement {
  const { type, token } = node;
  switch (type) {
    case 'paragraph':
      // in a list without space between its items
      return token.hidden ? <>{inside(node, end)}</> : <p dir="auto">{inside(node, end)}</p>;
    case 'heading':
      return <Heading level={Number(token.tag.slice(1))}>{inside(node, end)}</Heading>;
    case 'fence':
    case 'code_block':
      return (
        <CodeBlock
          language={token.info.trim().split(/\s/)[0] ?? ''}
          text={token.content}
          isStreaming={end !== null}
          end={end}
        />
      );
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote dir="auto">{inside(node, end)}</blockquote>;
    case 'bullet_list':
      return <ul>{inside(node, end)}</ul>;
    case 'ordered_list':
      return <ol start={Number(token.attrGet('start') ?? 1)}>{inside(node, end)}</ol>;
    case 'list_item':
      return <li dir="auto">{inside(node, end)}</li>;
    case 'table':
      return (
        <div className="md-table" tabIndex={0} role="group" aria-label="Table">
          <table>{inside(node, null)}</table>
        </div>
      );
    case 'thead':
      return <thead>{inside(node, null)}</thead>;
    case 'tbody':
      return <tbody>{inside(node, null)}</tbody>;
    case 'tr':
      return <tr>{inside(node, null)}</tr>;
    case 'th':
      return (
        <th scope="col" dir="auto" style={alignOf(node)}>
          {inside(node, null)}
        </th>
      );
    case 'td':
      return (
        <td dir="auto" style={alignOf(node)}>
          {inside(node, null)}
        </td>
      );
    default:
      return drawInline(node, end);
  }
}

function drawInline(node: MarkdownNode, end: ReactNode): ReactElement {
  const { type, token } = node;
  switch (type) {
    case 'inline':
      return <>{inside(node, end)}</>;
    case 'softbreak':
    case 'hardbreak':
      return <br />;
    case 'strong':
      return <strong>{inside(node, end)}</strong>;
    case 'em':
      return <i>{inside(node, end)}</i>;
    case 's':
      return <del>{inside(node, end)}</del>;
    case 'link':
      return <Link href={String(token.attrGet('href'))}>{inside(node, end)}</Link>;
    case 'image':
      // loading it would disclose the reader to its server
      return (
        <Link href={String(token.attrGet('src'))}>{token.content || token.attrGet('src')}</Link>
      );
    case 'code_inline':
      return (
        <>
          <code>{token.content}</code>
          {end}
        </>
      );
    default:
      return (
        <>
          {token.content}
          {end}
        </>
      );
  }
}

interface LinkProps {
  readonly href: string;
  readonly children: ReactNode;
}

function Link({ href, children }: LinkProps): ReactElement {
  const safe = safeHref(href);
  if (safe === null) return <>{children}</>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

interface HeadingProps {
  readonly level: number;
  readonly children: ReactNode;
}

/** Lowers headings: the page has its title above them. */
function Heading({ level, children }: HeadingProps): ReactElement {
  const Tag = level <= 1 ? 'h3' : level === 2 ? 'h4' : 'h5';
  return <Tag dir="auto">{children}</Tag>;
}

type Align = 'left' | 'right' | 'center';

function alignOf({ token }: MarkdownNode): { readonly textAlign?: Align } {
  const align = /^text-align:(left|right|center)$/.exec(String(token.attrGet('style')))?.[1];
  return align === undefined ? {} : { textAlign: align as Align };
}
