/** Abort reason of a worker that shuts down: the run continues in another process. */
export class HandoverSignal {
  readonly reason = 'The worker is shutting down, and another one continues the run.';
}

/** Abort reason of a session. */
export class StopSignal {
  readonly reason: string;
  readonly by: string | null;
  readonly at: string | null;
  constructor(note: Pick<StopSignal, 'reason' | 'by' | 'at'>) {
    this.reason = note.reason;
    this.by = note.by;
    this.at = note.at;
  }
}
