import { withoutLiterals } from './code.ts';
import type { Rule } from './rule.ts';

const ASSERTION =
  /\b\w+\.(ok|notOk|equal|not|same|notSame|strictSame|strictNotSame|match|notMatch|matchOnly|matchStrict|has|notHas|hasStrict|hasOwnProp|hasOwnProps|throws|doesNotThrow|rejects|resolves|resolveMatch|type|emits|error|fail|pass|matchSnapshot)\s*\(/;
const UNFINISHED = /\.(skip|todo|only)\s*\(|[{,]\s*(skip|todo|only)\s*:|\bpragma\b/;

/** A test file asserts something, and runs all of it: nothing is skipped, left to do, or picked out. */
export const honestTests: Rule = (files) =>
  files
    .filter(({ path }) => /^test\/.*\.test\.ts$/.test(path))
    .flatMap(({ path, text }) => {
      const code = withoutLiterals(text);
      const offences: string[] = [];
      if (!ASSERTION.test(code)) offences.push(`${path} asserts nothing.`);
      const unfinished = UNFINISHED.exec(code)?.[0];
      if (unfinished !== undefined) offences.push(`${path} leaves tests out: "${unfinished.trim()}".`);
      return offences;
    });

/** A file in a test folder that looks like a test but that no suite would run. */
export const strayTests: Rule = (files) =>
  files
    .filter(({ path }) => /\.(test|spec)\.[cm]?[jt]sx?$/.test(path))
    .filter(({ path }) => !/^test\/(architecture|unit|integration|e2e)\/.*\.test\.ts$/.test(path))
    .map(({ path }) => `${path} lies where no suite runs it.`);
