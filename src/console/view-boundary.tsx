import { Component, type ReactNode } from 'react';
import { EmptyState } from './empty-state.tsx';

interface ViewBoundaryProps {
  /** A change renders the view again. */
  readonly resetBy: string;
  readonly children: ReactNode;
}

interface ViewBoundaryState {
  readonly error: Error | null;
}

/** Catches errors of a view, so that the list stays usable. React supports boundaries only as classes. */
export class ViewBoundary extends Component<ViewBoundaryProps, ViewBoundaryState> {
  override state: ViewBoundaryState = { error: null };

  static getDerivedStateFromError(error: Error): ViewBoundaryState {
    return { error };
  }

  override componentDidUpdate(before: ViewBoundaryProps): void {
    if (before.resetBy !== this.props.resetBy && this.state.error) this.setState({ error: null });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <EmptyState
        glyph="failed"
        title="This view failed"
        action={
          <button type="button" className="button" onClick={() => this.setState({ error: null })}>
            Reload view
          </button>
        }
      >
        <p>The session is not affected: runs continue on the server.</p>
        <code className="muted">{error.message}</code>
      </EmptyState>
    );
  }
}
