import { checks, runChecks } from './checks.ts';
import { root } from './project.ts';

const allPassed = await runChecks(Object.values(checks), root, (text) => console.log(text));
process.exitCode = allPassed ? 0 : 1;
