import type { ReactElement } from 'react';
import type { Meter } from './limit-meter.ts';

/** Maximum number of segments; above it, the meter is one bar. */
const maxSegments = 10;

/** Renders the two numbers next to it as a bar. */
export function MeterView({ used, limit, unit, tone }: Meter): ReactElement | null {
  if (used === null) return null;
  if (unit === 'count' && Number.isInteger(limit) && limit <= maxSegments)
    return (
      <span className="meter meter-segments" data-tone={tone} aria-hidden="true">
        {Array.from({ length: limit }, (_, i) => (
          <i key={i} data-on={i < used || undefined} />
        ))}
      </span>
    );
  const share = Math.min(1, Math.max(0, used / limit));
  return (
    <span className="meter" data-tone={tone} aria-hidden="true">
      <i style={{ width: `${(share * 100).toFixed(1)}%` }} />
    </span>
  );
}
