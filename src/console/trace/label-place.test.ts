import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partsWidth, placeLabel, plotWidthFor } from './label-place.ts';
import type { LabelPart, Lane } from './lanes.ts';
import { textWidth } from './text-width.ts';

const part = (text: string): LabelPart => ({ text, tone: 'name' });
const lane = (from: number, to: number, ...labels: readonly string[]): Lane => ({
  key: 'x',
  pieces: [{ kind: 'tool', from, to }],
  labels: labels.map((text) => [part(text)]),
  title: labels[0] ?? '',
});

describe('placeLabel', () => {
  it('is right of a bar, and left of one past the middle', () => {
    expect(placeLabel(lane(0, 0.2, 'model 1.42 s'), 400, 400)).toMatchObject({
      side: 'right',
      offset: 86,
    });
    expect(placeLabel(lane(0.7, 0.8, 'model 1.42 s'), 400, 400)).toMatchObject({
      side: 'left',
      offset: 126,
    });
  });

  it('uses the other side if there is no space', () => {
    const long = 'a_tool_with_quite_a_name 0.22 s';
    expect(placeLabel(lane(0.02, 0.6, long, 'short'), 400, 400).side).toBe('right');
    expect(placeLabel(lane(0.3, 0.69, 'search_entities'), 400, 400).side).toBe('right');
    expect(placeLabel(lane(0.4, 0.99, 'search 1 s'), 400, 400).side).toBe('left');
  });

  it('uses a shorter label before truncating, with the whole text on demand', () => {
    const placed = placeLabel(lane(0.4, 0.6, 'x'.repeat(60), 'short'), 400, 400);
    expect(placed.parts).toEqual([part('short')]);
    expect(placed.title).toBe('x'.repeat(60));
    const cut = placeLabel(lane(0.4, 0.6, 'x'.repeat(60)), 400, 400);
    expect(cut.maxWidth).toBeLessThan(partsWidth(cut.parts));
    expect(cut.title).toBe('x'.repeat(60));
  });

  it('never covers its bar or leaves the chart', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const label = fc.string({ minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(share, share, label, fc.integer({ min: 120, max: 1200 }), (a, b, text, width) => {
        const bar = lane(Math.min(a, b), Math.max(a, b), text, text.slice(0, 5));
        const plot = plotWidthFor([bar], width);
        const placed = placeLabel(bar, plot, width);
        const shown = Math.min(placed.maxWidth, partsWidth(placed.parts));
        const [from, to] = [Math.min(a, b) * plot, Math.max(a, b) * plot];
        if (placed.side === 'right') {
          expect(placed.offset).toBeGreaterThanOrEqual(to);
          expect(placed.offset + shown).toBeLessThanOrEqual(width + 7);
        } else {
          expect(width - placed.offset).toBeLessThanOrEqual(from);
          expect(width - placed.offset - shown).toBeGreaterThanOrEqual(-7);
        }
      }),
    );
  });
});

describe('plotWidthFor', () => {
  it('uses the whole chart if every label fits', () => {
    expect(plotWidthFor([lane(0, 0.4, 'model 1 s'), lane(0.9, 1, 'tool 1 s')], 400)).toBe(400);
  });

  it('reserves space at the end for the label of a bar that fills the chart', () => {
    const bar = lane(0, 1, 'model 2.11 s');
    const plot = plotWidthFor([bar], 412);
    expect(plot).toBeLessThan(412 - textWidth('model 2.11 s'));
    expect(placeLabel(bar, plot, 412).title).toBeNull();
  });

  it('never reserves more than half of it', () => {
    expect(plotWidthFor([lane(0, 1, 'x'.repeat(200))], 400)).toBe(220);
  });

  it('does not change while a number grows', () => {
    const widths = ['9.91 s', '9.96 s', '10.1 s', '11.4 s'].map((time) =>
      plotWidthFor([lane(0, 1, `model ${time}`)], 412),
    );
    expect(new Set(widths).size).toBe(1);
  });
});
