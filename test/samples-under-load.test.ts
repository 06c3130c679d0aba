import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { fencesOf } from '../docs-tools/markdown.ts';
import { guides } from '../docs-tools/pages.ts';
import { printedBy, steady } from './setup/samples.ts';
import { removeFolder } from './setup/folders.ts';

/** Session samples: load must change neither their output nor their end. */
const page = 'docs/troubleshooting.md';
const folder = resolve(`build/samples-under-load-${process.pid}`);
mkdirSync(folder, { recursive: true });
afterAll(() => removeFolder(folder));
afterEach(() => vi.restoreAllMocks());

const samples = guides()
  .filter(({ file }) => file === page)
  .flatMap(({ text }) => fencesOf(text))
  .filter(({ language, code }) => language === 'ts' && code.includes('SessionRuntime'))
  .map(({ code, next, line }) => ({ line, code, prints: steady(next?.code ?? '') }));

/** Simulates a process that gets no CPU for longer than a lease, once, before the nth clock reading. */
function pauseBeforeReading(nth: number): void {
  const date = Date.now.bind(Date);
  const fine = performance.now.bind(performance);
  let readings = 0;
  const later = (): number => (++readings >= nth ? 1_300 : 0);
  vi.spyOn(Date, 'now').mockImplementation(() => date() + later());
  vi.spyOn(performance, 'now').mockImplementation(() => fine() + later());
}

describe('session samples on a machine under load', () => {
  it('there are several', () => expect(samples.length).toBeGreaterThan(1));

  it.each(samples.flatMap((sample) => [5, 20, 40, 60, 80].map((nth) => ({ ...sample, nth }))))(
    `${page}:$line prints the same with a pause before clock reading $nth`,
    async (sample) => {
      const { line, code, prints, nth } = sample;
      const file = `${folder}/sample-${line}-${nth}.ts`;
      writeFileSync(file, code);
      pauseBeforeReading(nth);
      expect(await printedBy(file)).toBe(prints);
    },
  );
});
