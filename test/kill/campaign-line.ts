import type { CampaignReport } from './kill-run.ts';

/** Formats a campaign as one line. */
export const campaignLine = (report: Omit<CampaignReport, 'kept'>): string =>
  [
    `seed ${report.seed}`,
    `${report.sessions} sessions`,
    `${report.executions} executions`,
    `faults: ${faultList(report.faults)}`,
    `${report.steps} steps`,
    `${report.toolRuns} tool runs`,
    `${report.compactions} compactions`,
    `${report.unknownFates} unknown fates`,
    `${report.begunAgain} begun again`,
    `${report.retries} retries by hand`,
    `${report.violations.length} violations`,
    `${(report.ms / 1000).toFixed(1)} s`,
  ].join(', ');

const faultList = (faults: CampaignReport['faults']): string =>
  Object.entries(faults)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(' ') || 'none';
