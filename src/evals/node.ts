export { readDataset } from './node-dataset.ts';
export { evalReportFolder } from './node-report-folder.ts';
