import type { ReactElement } from 'react';

export interface BarPart {
  /** Pattern of the part; the order from below is the same in every bar. */
  readonly kind: string;
  readonly value: number;
}

export interface Bar {
  readonly label: string;
  readonly parts: readonly BarPart[];
  /** What the bar says and opens. */
  readonly title: string;
  readonly href: string;
}

export interface BarsProps {
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
}

/** Renders stacked bars as links, with three lines and labels at the ends and in the middle. */
export function Bars({ bars, format }: BarsProps): ReactElement {
  const sums = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const top = topOf(Math.max(0, ...sums));
  const middle = Math.floor(bars.length / 2);
  return (
    <div className="chart">
      <Scale top={top} format={format} />
      <div className="chart-bars">
        {bars.map(({ label, title, href, parts }) => (
          <a key={label} href={href} title={title} aria-label={title}>
            {parts
              .toReversed()
              .map(
                ({ kind, value }) =>
                  value > 0 && (
                    <span
                      key={kind}
                      className="chart-part"
                      data-kind={kind}
                      style={{ height: `${(value / top) * 100}%` }}
                    />
                  ),
              )}
          </a>
        ))}
      </div>
      <div className="chart-labels" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars[middle]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
    </div>
  );
}

export function Scale({
  top,
  format,
}: {
  readonly top: number;
  readonly format: (value: number) => string;
}): ReactElement {
  return (
    <div className="chart-scale" aria-hidden="true">
      {[top, top / 2, 0].map((value) => (
        <span key={value}>{format(value)}</span>
      ))}
    </div>
  );
}

/** Returns a round number that is not less. */
export function topOf(most: number): number {
  if (most <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 5, 10].map((step) => step * size).find((value) => value >= most) ?? most;
}
