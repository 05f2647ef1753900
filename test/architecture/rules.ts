import ts from 'typescript';

/** A file of the repository: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A rule over all files. Returns one sentence for each violation. */
export type Rule = (files: readonly SourceFile[]) => string[];

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
const honestTests: Rule = (files) =>
  files
    .filter(({ path }) => /^(sandbox\/)?test\/.*\.test\.ts$/.test(path))
    .flatMap((file) => {
      const { asserts, leavesOut } = readTests(file);
      return [
        ...(asserts ? [] : [`${file.path} asserts nothing.`]),
        ...leavesOut.map((word) => `${file.path} leaves tests out: "${word}".`),
      ];
    });

/** Finds test files in folders that no suite runs. */
const strayTests: Rule = (files) =>
  files
    .filter(({ path }) => /\.(test|spec)\.[cm]?[jt]sx?$/.test(path))
    .filter(
      ({ path }) =>
        !/^(test\/(architecture|unit|integration|e2e|slow)|sandbox\/test\/(unit|integration|slow))\/.*\.test\.ts$/.test(
          path,
        ),
    )
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

/** Every node of a source, parents before children. */
function* nodesOf({ path, text }: SourceFile): Generator<ts.Node> {
  const waiting: ts.Node[] = [ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false)];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => {
      children.push(child);
    });
    waiting.push(...children.reverse());
  }
}

// The paths are put together here, so that this file does not break its own rule.
const MACHINE_PATHS = [['', 'work', ''].join('/'), ['', 'tmp', 'bash_jobs'].join('/'), ['', 'home', ''].join('/')];

/** Finds paths of the machine on which the code was written. The repository must run wherever it is cloned. */
const noMachinePaths: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    MACHINE_PATHS.filter((folder) => text.includes(folder)).map((folder) => `${path} names ${folder}.`),
  );

interface Lockfile {
  readonly packages: Record<
    string,
    {
      readonly resolved?: string;
      readonly link?: boolean;
      readonly hasInstallScript?: boolean;
      readonly optionalDependencies?: Record<string, string>;
    }
  >;
}

/** Finds registry URLs in a lockfile. Without them, it installs from any mirror. */
const lockfileNamesNoRegistry: Rule = (files) =>
  lockfiles(files).flatMap(({ path, lock }) =>
    Object.entries(lock.packages)
      .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
      .map(([name]) => `${path}: ${name} is tied to a download address.`),
  );

/**
 * Finds optional packages of other platforms that a lockfile lacks. Without them, `npm ci` fails on those platforms.
 */
const lockfileKnowsAllPlatforms: Rule = (files) =>
  lockfiles(files).flatMap(({ path, lock }) =>
    Object.entries(lock.packages).flatMap(([location, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isInstalled(lock, location, name))
        .map((name) => `${path}: ${location || 'the project'} wants ${name}, which has no entry.`),
    ),
  );

/** Finds versions that are not exact, in the project and its workspaces. Two installs must give the same packages. */
const exactVersions: Rule = (files) =>
  files
    .filter(({ path }) => path.endsWith('package.json'))
    .flatMap(({ path, text }) => {
      const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
      return ['dependencies', 'optionalDependencies', 'devDependencies']
        .flatMap((kind) => Object.entries(manifest[kind] ?? {}))
        .filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} is "${version}", not one exact version.`);
    });

function lockfiles(files: Parameters<Rule>[0]): { path: string; lock: Lockfile }[] {
  return files
    .filter(({ path }) => path.endsWith('package-lock.json'))
    .map(({ path, text }) => ({ path, lock: JSON.parse(text) as Lockfile }));
}

/** Looks where Node looks: in the package's own folder, then in each folder above it. */
function isInstalled(lock: Lockfile, location: string, name: string): boolean {
  const folders = location.split('/');
  return [...folders, ''].some(
    (_, index) =>
      [...folders.slice(0, folders.length - index), 'node_modules', name].filter(Boolean).join('/') in lock.packages,
  );
}

/** The project's own rules, which no other tool checks. */
export const houseRules: Readonly<Record<string, Rule>> = {
  honestTests,
  strayTests,
  noMachinePaths,
  lockfileNamesNoRegistry,
  lockfileKnowsAllPlatforms,
  exactVersions,
};
