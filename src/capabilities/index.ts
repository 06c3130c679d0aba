export { toolSearch, type ToolSearchOptions } from './tool-search.ts';
