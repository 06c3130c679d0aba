import type { ReactElement, Ref } from 'react';
import { PaletteButton } from './palette-button.tsx';

export interface PageBarProps {
  readonly title: string;
  readonly titleRef: Ref<HTMLHeadingElement>;
  /** Receives the element for the tools of the page. */
  readonly toolsRef: Ref<HTMLElement>;
  readonly onPalette: () => void;
}

/** Renders the top bar of a page beside the sessions. */
export function PageBar({ title, titleRef, toolsRef, onPalette }: PageBarProps): ReactElement {
  return (
    <header className="top">
      <div className="top-page">
        <h1 ref={titleRef} tabIndex={-1}>
          {title}
        </h1>
        <div className="top-page-tools" ref={toolsRef as Ref<HTMLDivElement>} />
        <PaletteButton onOpen={onPalette} />
      </div>
    </header>
  );
}
