import { useRef, type ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';
import { stepTabs, type StepTab } from '../route.ts';
import type { TraceStep } from '../../trace/trace.ts';
import { failedCalls } from './step-tab.ts';

const names: Readonly<Record<StepTab, string>> = {
  decision: 'Decision',
  model: 'Model call',
  tools: 'Tool calls',
  raw: 'Raw',
};

/** Renders the tabs of a step. The tab of tool calls has their number, and a mark if one failed. */
export function StepTabs({
  step,
  tab,
  onTab,
}: {
  readonly step: TraceStep;
  readonly tab: StepTab;
  readonly onTab: (tab: StepTab) => void;
}): ReactElement {
  const list = useRef<HTMLDivElement>(null);
  const calls = step.bars.filter(({ kind }) => kind === 'tool').length;
  const failed = failedCalls(step);
  const move = (by: number): void => {
    const next = stepTabs.at((stepTabs.indexOf(tab) + by) % stepTabs.length);
    if (next === undefined) return;
    onTab(next);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus();
  };
  return (
    <div
      className="step-tabs"
      role="tablist"
      aria-label="Step"
      ref={list}
      onKeyDown={({ key }) => {
        if (key === 'ArrowRight') move(1);
        if (key === 'ArrowLeft') move(-1);
      }}
    >
      {stepTabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`step-tab-${name}`}
          data-tab={name}
          aria-selected={tab === name}
          aria-controls="step-panel"
          tabIndex={tab === name ? 0 : -1}
          onClick={() => onTab(name)}
        >
          {names[name]}
          {name === 'tools' && calls > 0 && <span className="muted">{calls}</span>}
          {name === 'tools' && failed > 0 && (
            <span className="step-tab-failed">
              <Glyph name="forbid" size={9} />
              <span className="visually-hidden">{failed} failed</span>
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
