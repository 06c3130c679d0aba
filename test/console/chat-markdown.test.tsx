// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { safeHref } from '../../src/react/safe-href.ts';
import { Markdown } from '../../src/console/chat/markdown.tsx';

afterEach(cleanup);

const html = (text: string, isStreaming: boolean = false): string =>
  render(<Markdown text={text} isStreaming={isStreaming} />)
    .container.querySelector('.md')
    ?.innerHTML.replaceAll(' dir=\"auto\"', '') ?? '';

const tags = (text: string): string[] =>
  [
    ...new Set(
      [...render(<Markdown text={text} />).container.querySelectorAll('.md *')].map((element) =>
        element.tagName.toLowerCase(),
      ),
    ),
  ].toSorted();

describe('Markdown', () => {
  it.each([
    ['paragraphs', 'one\n\ntwo', '<p>one</p><p>two</p>'],
    ['a line break', 'one\ntwo', '<p>one<br>two</p>'],
    ['strong and emphasis', '**a** and *b*', '<p><strong>a</strong> and <i>b</i></p>'],
    ['strong emphasis', '***a***', '<p><i><strong>a</strong></i></p>'],
    ['struck text', '~~a~~', '<p><del>a</del></p>'],
    ['code', 'run `a_b *c*`', '<p>run <code>a_b *c*</code></p>'],
    ['code with a backtick', '`` a`b ``', '<p><code>a`b</code></p>'],
    ['names with underscores unchanged', 'lead_2207 and a_b_c', '<p>lead_2207 and a_b_c</p>'],
    ['sums unchanged', '2 * 3 * 4', '<p>2 * 3 * 4</p>'],
    ['escapes', String.raw`\*a\*`, '<p>*a*</p>'],
    ['marks without an end as text', '**a and `b', '<p>**a and `b</p>'],
    ['headings below the level of the page', '# A\n## B\n### C', '<h3>A</h3><h4>B</h4><h5>C</h5>'],
    ['a rule', 'a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
    ['a quote', '> a\n> b', '<blockquote><p>a<br>b</p></blockquote>'],
    ['a list', '- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['a list after a line', 'so:\n- a', '<p>so:</p><ul><li>a</li></ul>'],
    ['a numbered list that starts at 3', '3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['a list in a list', '- a\n  - b\n- c', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
    ['a year as text', 'In 2024. it was', '<p>In 2024. it was</p>'],
  ])('renders %s', (_what, text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it('keeps all text of code blocks, also of open ones', () => {
    const code = (text: string): string[] =>
      [...render(<Markdown text={text} />).container.querySelectorAll('pre')].map(
        (pre) => `${pre.getAttribute('aria-label')}: ${pre.textContent}`,
      );
    expect(code('```ts\nconst a = "<b>";\n\n  b\n```\nc')).toEqual([
      'Code in ts: const a = "<b>";\n\n  b',
    ]);
    expect(code('```\nnot yet')).toEqual(['Code: not yet']);
  });

  it('renders tables with bars in code and missing cells', () => {
    const { container } = render(
      <Markdown text={'| a | b |\n| :- | -: |\n| `x\\|y` | 2 |\n| 3 |\n\nend'} />,
    );
    const rows = [...container.querySelectorAll('tr')].map((row) =>
      [...row.children].map((cell) => cell.outerHTML.replaceAll(' dir="auto"', '')),
    );
    expect(rows).toEqual([
      [
        '<th scope="col" style="text-align: left;">a</th>',
        '<th scope="col" style="text-align: right;">b</th>',
      ],
      [
        '<td style="text-align: left;"><code>x|y</code></td>',
        '<td style="text-align: right;">2</td>',
      ],
      ['<td style="text-align: left;">3</td>', '<td style="text-align: right;"></td>'],
    ]);
    expect(container.textContent).toContain('end');
  });

  it('opens links in a new tab without a referrer', () => {
    const { container } = render(
      <Markdown text="[a **b**](https://example.com/x_(y) 'no') [c](https://example.com/c) https://example.com/d. <mailto:a@b.c> [m](mailto:a@b.c)" />,
    );
    const links = [...container.querySelectorAll('a')];
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      'https://example.com/x_(y)',
      'https://example.com/c',
      'https://example.com/d',
      'mailto:a@b.c',
      'mailto:a@b.c',
    ]);
    for (const link of links) {
      expect(link.getAttribute('rel')).toBe('noopener noreferrer');
      expect(link.getAttribute('target')).toBe('_blank');
    }
  });

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\tscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example',
    '/api/sessions',
    'blob:https://example.com/1',
    'https:evil',
    'https://',
    '',
  ])('renders no link to %s', (href) => {
    expect(safeHref(href)).toBeNull();
    const { container } = render(<Markdown text={`[x](${href})`} />);
    for (const link of container.querySelectorAll('a'))
      expect(link.getAttribute('href')).not.toBe(href);
    expect(container.textContent).toContain('x');
  });

  it.each([
    '<script>window.hacked = 1</script>',
    '<img src=x onerror="window.hacked = 1">',
    '<a href="javascript:alert(1)">x</a>',
    '| <iframe src="javascript:1"> | b |\n| - | - |\n| <svg onload=1> | d |',
    '- <style>*{display:none}</style>',
    '# <script>1</script>',
    '`<script>1</script>`',
    '&lt;script&gt;',
  ])('renders HTML as text: %s', (text) => {
    const { container } = render(<Markdown text={text} />);
    expect(
      container.querySelector('script, img, iframe, svg, style, [onerror], [onload]'),
    ).toBeNull();
    expect(container.querySelector('a')).toBeNull();
    expect(Object.hasOwn(window, 'hacked')).toBe(false);
  });

  it('renders an image as a link and loads nothing', () => {
    expect(tags('![pixel](https://tracker.example/p.gif)')).toEqual(['a', 'p']);
  });
});

describe('streamed Markdown', () => {
  it.each([
    ['completes open strong text', 'so **impor', '<p>so <strong>impor</strong></p>'],
    ['hides half a closing mark', 'so **important*', '<p>so <strong>important</strong></p>'],
    ['hides an opening mark', 'so **', '<p>so</p>'],
    ['completes open code', 'run `npm', '<p>run <code>npm</code></p>'],
    ['shows the text of an incomplete link', 'see [the page](https://exam', '<p>see the page</p>'],
    ['shows the text of an open link', 'see [the pa', '<p>see the pa</p>'],
    ['hides a mark that is alone on its line', 'so:\n-', '<p>so:</p>'],
    [
      'completes the last item of a list',
      '- a\n- **b',
      '<ul><li>a</li><li><strong>b</strong></li></ul>',
    ],
  ])('%s', (_what, text, expected) => {
    expect(html(text, true)).toBe(expected);
  });

  it.each(['const a = [1, 2]', 'f(**', 'x = `', '-', '[', '# a'])(
    'does not complete code: %s',
    (line) => {
      const { container } = render(<Markdown text={`so:\n\n\`\`\`ts\n${line}`} isStreaming />);
      expect(container.querySelector('pre')?.textContent).toBe(line);
    },
  );

  it('completes text after code', () => {
    expect(html('```\na\n```\nso **b', true)).toContain('<p>so <strong>b</strong></p>');
  });

  it('renders the header of a table immediately', () => {
    const { container } = render(<Markdown text={'| a | b |'} isStreaming />);
    expect([...container.querySelectorAll('th')].map((cell) => cell.textContent)).toEqual([
      'a',
      'b',
    ]);
  });

  it('shows no marks in any prefix of a text', () => {
    const text = 'A **b c** and `d e` then [f g](https://h.example/i) and *j*.';
    for (let end = 1; end <= text.length; end++) {
      const { container, unmount } = render(<Markdown text={text.slice(0, end)} isStreaming />);
      expect(container.textContent).not.toMatch(/[`[\]()]|\*\*/);
      unmount();
    }
  });

  it('does not render finished parts again', () => {
    const { container, rerender } = render(<Markdown text={'one\n\ntwo'} isStreaming />);
    const [first] = container.querySelectorAll('p');
    rerender(<Markdown text={'one\n\ntwo and **more**\n\nthree'} isStreaming={false} />);
    expect(container.querySelectorAll('p')[0]).toBe(first);
    expect(container.textContent).toBe('onetwo and morethree');
  });
});
