import ts from 'typescript';
import type { Rule, SourceFile } from './rule.ts';
import { nodesOf } from './syntax.ts';

/** Methods of tap's test object that assert nothing. */
const NOT_ASSERTIONS = new Set([
  'test',
  'after',
  'afterEach',
  'before',
  'beforeEach',
  'teardown',
  'plan',
  'end',
  'comment',
  'setTimeout',
  'testdir',
  'mockImport',
  'capture',
  'intercept',
]);
const LEFT_OUT = new Set(['skip', 'todo', 'only']);

/** Finds test files that assert nothing, or that skip or single out tests. */
export const honestTests: Rule = (files) =>
  files
    .filter(({ path }) => /^test\/.*\.test\.ts$/.test(path))
    .flatMap((file) => {
      const { asserts, leavesOut } = readTests(file);
      return [
        ...(asserts ? [] : [`${file.path} asserts nothing.`]),
        ...leavesOut.map((word) => `${file.path} leaves tests out: "${word}".`),
      ];
    });

/** Finds test files in folders that no suite runs. */
export const strayTests: Rule = (files) =>
  files
    .filter(({ path }) => /\.(test|spec)\.[cm]?[jt]sx?$/.test(path))
    .filter(({ path }) => !/^test\/(architecture|unit|integration|e2e|slow)\/.*\.test\.ts$/.test(path))
    .map(({ path }) => `${path} lies where no suite runs it.`);

function readTests(file: SourceFile): { asserts: boolean; leavesOut: string[] } {
  const nodes = [...nodesOf(file)];
  const testObjects = new Set(nodes.flatMap(testObjectsNamedBy));
  const isTestObject = (node: ts.Node) => ts.isIdentifier(node) && testObjects.has(node.text);

  let asserts = false;
  const leavesOut: string[] = [];
  for (const call of nodes.filter(ts.isCallExpression)) {
    // A function that receives the test object can assert as well, for example a contract suite.
    if (call.arguments.some(isTestObject)) asserts = true;
    if (!ts.isPropertyAccessExpression(call.expression) || !isTestObject(call.expression.expression)) continue;
    const method = call.expression.name.text;
    if (LEFT_OUT.has(method)) leavesOut.push(`t.${method}`);
    else if (!NOT_ASSERTIONS.has(method)) asserts = true;
    leavesOut.push(...call.arguments.flatMap(optionsThatLeaveOut));
  }
  return { asserts, leavesOut };
}

/** The names of tap's test object in a source: the import, and the parameter of each test function. */
function testObjectsNamedBy(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text === 'tap') {
    const name = node.importClause?.name;
    return name === undefined ? [] : [name.text];
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  return node.arguments
    .filter((argument) => ts.isArrowFunction(argument) || ts.isFunctionExpression(argument))
    .flatMap((run) => run.parameters.slice(0, 1))
    .flatMap(({ name }) => (ts.isIdentifier(name) && /^(t|test\w*|\w*Test)$/.test(name.text) ? [name.text] : []));
}

function optionsThatLeaveOut(argument: ts.Expression): string[] {
  if (!ts.isObjectLiteralExpression(argument)) return [];
  return argument.properties
    .flatMap(({ name }) =>
      name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? [name.text] : [],
    )
    .filter((name) => LEFT_OUT.has(name));
}
