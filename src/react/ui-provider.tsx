import { useMemo, type ReactElement, type ReactNode } from 'react';
import type { AgentLabels } from './labels.ts';
import { UiContext, useUi, type AgentUi } from './ui-context.ts';

export interface AgentUiProviderProps {
  /** Texts that replace the English ones. */
  readonly labels?: Partial<AgentLabels>;
  /** Parts that you render yourself. */
  readonly components?: AgentUi['components'];
  readonly fetchRef?: NonNullable<AgentUi['fetchRef']>;
  readonly renderText?: NonNullable<AgentUi['renderText']>;
  readonly children: ReactNode;
}

/** Sets texts and renderers of the components inside; missing ones come from the outer provider. */
export function AgentUiProvider(props: AgentUiProviderProps): ReactElement {
  const { labels, components, fetchRef, renderText, children } = props;
  const outer = useUi();
  const ui = useMemo<AgentUi>(
    () => ({
      labels: labels ? { ...outer.labels, ...labels } : outer.labels,
      components: components ? { ...outer.components, ...components } : outer.components,
      fetchRef: fetchRef ?? outer.fetchRef,
      renderText: renderText ?? outer.renderText,
    }),
    [outer, labels, components, fetchRef, renderText],
  );
  return <UiContext.Provider value={ui}>{children}</UiContext.Provider>;
}
