export { demoApp, type DemoApp, type DemoOptions } from './demo-app.ts';
