import type { ErrorReport } from '../errors/error-record.ts';

/** An error of a tool that is recorded with a type and code of its own, in place of `tool_failed`. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly report: ErrorReport;
  constructor(report: ErrorReport, options?: ErrorOptions) {
    super(report.message, options);
    this.report = report;
  }
}
