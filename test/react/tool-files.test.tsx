// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { ToolFiles } from '../../src/react/tool-files.tsx';
import { ToolCallView } from '../../src/react/index.ts';
import type { UiToolFile } from '../../src/ui/ui-message.ts';
import { hostileSvg, png } from '../setup/content-samples.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { call, result } from './component-fixtures.ts';

afterEach(cleanup);

const shows = (file: UiToolFile): HTMLElement => render(<ToolFiles files={[file]} />).container;

it('shows a raster image that the message has, with a text for it', async () => {
  render(
    <ToolCallView
      call={call}
      state="error"
      result={result({
        tool_result: 'The page:\n[Image (image/png, 70 bytes)]',
        tool_files: [{ type: 'image', media_type: 'image/png', bytes: 70, data: png }],
      })}
    />,
  );
  const image = screen.getByAltText<HTMLImageElement>('Image (image/png, 70 bytes)');
  expect(image.getAttribute('src')).toBe(`data:image/png;base64,${png}`);
  expect(screen.getByLabelText('Result').textContent).toContain('The page:');
  expect(await seriousInDocument()).toEqual([]);
});

it.each<[string, UiToolFile, string]>([
  [
    'a vector image, which may hold scripts',
    { type: 'image', media_type: 'image/svg+xml', bytes: 92, data: hostileSvg },
    'Image (image/svg+xml, 92 bytes)',
  ],
  [
    'data that is not base64',
    { type: 'image', media_type: 'image/png', data: '"><script>alert(1)</script>' },
    'Image (image/png)',
  ],
  [
    'a type that holds more',
    { type: 'image', media_type: 'image/png,<svg onload=alert(1)>', data: png },
    'Image (image/png,<svg onload=alert(1)>)',
  ],
  ['a file', { type: 'file', filename: 'a.pdf', bytes: 12_000 }, 'File "a.pdf" (12 KB)'],
  [
    'a script as address',
    { type: 'image', url: 'javascript:alert(1)' },
    'Image at javascript:alert(1)',
  ],
  ['a name that reverses the text', { type: 'file', filename: 'a\u202egpj' }, 'File "a\\u202egpj"'],
])('shows %s as text', (_what, file, text) => {
  const container = shows(file);
  expect(container.textContent).toBe(text);
  expect(container.querySelector('img, a, script, svg')).toBeNull();
});

it('shows an address as a link, and loads nothing from it', () => {
  const container = shows({ type: 'image', url: 'https://example.com/a.png' });
  expect(container.querySelector('img')).toBeNull();
  const link = screen.getByRole('link', { name: 'Image at https://example.com/a.png' });
  expect(link.getAttribute('href')).toBe('https://example.com/a.png');
  expect(link.getAttribute('rel')).toBe('noopener noreferrer');
});
