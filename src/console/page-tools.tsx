import { createContext, useContext, type Context, type ReactElement, type ReactNode } from 'react';
import { createPortal } from 'react-dom';

/** The element of the top bar for the tools of a page. */
export const PageToolsSlot: Context<HTMLElement | null> = createContext<HTMLElement | null>(null);

/** Renders the tools of a page, such as a switch of the time range, in the top bar next to its title. */
export function PageTools({ children }: { readonly children: ReactNode }): ReactElement | null {
  const slot = useContext(PageToolsSlot);
  return slot && createPortal(children, slot);
}
