import type { ReactElement } from 'react';
import { durationText } from '../../number-text.ts';
import type { RunBucket } from '../../sessions/run-statistics.ts';
import { Scale, topOf } from './bars.tsx';

export interface StepTimesProps {
  readonly buckets: readonly RunBucket[];
  readonly label: (bucket: RunBucket) => string;
}

/** Renders two lines, labeled where they end: p50 solid, p95 dashed. */
export function StepTimes({ buckets, label }: StepTimesProps): ReactElement {
  const top = topOf(Math.max(0, ...buckets.map(({ p95 }) => p95 ?? 0)));
  const x = (at: number): number => ((at + 0.5) / buckets.length) * 100;
  const y = (ms: number): number => 100 - (ms / top) * 100;
  const points = (of: 'p50' | 'p95'): readonly (readonly [number, number])[] =>
    buckets.flatMap((bucket, at) => {
      const ms = bucket[of];
      return ms === null ? [] : [[x(at), y(ms)] as const];
    });
  const lines = (['p95', 'p50'] as const).map((of) => [of, points(of)] as const);
  const words = buckets
    .filter(({ p50 }) => p50 !== null)
    .map(
      (bucket) =>
        `${label(bucket)} ${durationText(bucket.p50 ?? 0)}, ${durationText(bucket.p95 ?? 0)}`,
    );
  return (
    <div className="chart chart-lines">
      <Scale top={top} format={(ms) => (ms === 0 ? '0' : durationText(ms))} />
      <div className="chart-area">
        <svg
          viewBox="0 0 100 100"
          preserveAspectRatio="none"
          role="img"
          aria-label={`Step time, p50 and p95: ${words.join('; ')}`}
        >
          {lines.map(([of, at]) => (
            <g key={of} data-of={of}>
              <polyline points={at.map(([px, py]) => `${px},${py}`).join(' ')} />
              {at.map(([px, py]) => (
                // a line of no length is a dot, also where there is only one point
                <line key={px} className="chart-dot" x1={px} y1={py} x2={px} y2={py} />
              ))}
            </g>
          ))}
        </svg>
        {lines.map(([of, at]) => {
          const last = at.at(-1);
          return (
            last && (
              <span key={of} className="chart-end" style={{ top: `${last[1]}%` }}>
                {of}
              </span>
            )
          );
        })}
      </div>
      <div className="chart-labels" aria-hidden="true">
        <span>{buckets[0] && label(buckets[0])}</span>
        <span>now</span>
      </div>
    </div>
  );
}
