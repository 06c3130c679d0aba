import { fireEvent, render, type RenderResult } from '@testing-library/react';
import { useState, type ReactElement } from 'react';
import { expect, vi, type Mock } from 'vitest';
import type { TraceViewProps } from '../../src/console/contract.ts';
import { TraceView } from '../../src/console/trace/trace-view.tsx';
import type { Trace } from '../../src/trace/trace.ts';

type Asked = {
  readonly [
    Name in
      | 'onSelect'
      | 'onGrant'
      | 'onResume'
      | 'onNewMessage'
      | 'onFork'
      | 'onEarlier'
      | 'onOpenCall'
      | 'onOpenAbove'
  ]: Mock<TraceViewProps[Name]>;
};

interface Shown extends Asked, RenderResult {
  readonly bring: (next: Trace) => void;
}

/** Renders a trace; clicks select steps as in the console. */
export function show(
  trace: Trace,
  selected: number | null = null,
  more: Partial<TraceViewProps> = {},
): Shown {
  const asked = {
    onSelect: vi.fn<TraceViewProps['onSelect']>(),
    onGrant: vi.fn<TraceViewProps['onGrant']>(),
    onResume: vi.fn<TraceViewProps['onResume']>(),
    onNewMessage: vi.fn<TraceViewProps['onNewMessage']>(),
    onFork: vi.fn<TraceViewProps['onFork']>(),
    onEarlier: vi.fn<TraceViewProps['onEarlier']>(),
    onOpenCall: vi.fn<TraceViewProps['onOpenCall']>(),
    onOpenAbove: vi.fn<TraceViewProps['onOpenAbove']>(),
  };
  function Shell({ shown }: { readonly shown: Trace }): ReactElement {
    const [at, setAt] = useState(selected);
    return (
      <TraceView
        trace={shown}
        selected={at}
        grantState={{ kind: 'ready' }}
        {...asked}
        {...more}
        onSelect={(step) => {
          asked.onSelect(step);
          setAt(step);
        }}
      />
    );
  }
  const view = render(<Shell shown={trace} />);
  return { ...asked, ...view, bring: (next: Trace) => view.rerender(<Shell shown={next} />) };
}

/** Finds an element by its label, because queries by role are slow on large pages. */
export const labeled = (label: string): HTMLElement => only(document, `[aria-label="${label}"]`);
export const pane = (): HTMLElement => labeled('Checks of the selected step');
export const title = (): string | null | undefined => pane().querySelector('h3')?.textContent;
export const timeline = (): HTMLElement => labeled('Timeline');
export const press = (name: string, within: HTMLElement = document.body): void => {
  const found = [...within.querySelectorAll('button')].filter(
    (button) => (button.getAttribute('aria-label') ?? button.textContent) === name,
  );
  expect(found).toHaveLength(1);
  for (const button of found) fireEvent.click(button);
};
export const has = (name: RegExp): boolean =>
  [...document.querySelectorAll('button')].some(({ textContent }) => name.test(textContent));
export const row = (step: number): HTMLElement => only(timeline(), `[data-step="${step}"]`);
export const current = (): (string | undefined)[] =>
  [...timeline().querySelectorAll<HTMLElement>('[aria-current="step"]')].map(
    (r) => r.dataset['step'],
  );

function only(within: ParentNode, selector: string): HTMLElement {
  const found = within.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`There is no ${selector}.`);
  return found;
}
