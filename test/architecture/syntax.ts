import ts from 'typescript';
import type { SourceFile } from './rule.ts';

/** The top-level statements of a source. */
export function statementsOf({ path, text }: SourceFile): readonly ts.Statement[] {
  return parse(path, text).statements;
}

/** Every node of a source, parents before children. */
export function* nodesOf({ path, text }: SourceFile): Generator<ts.Node> {
  const waiting: ts.Node[] = [parse(path, text)];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => {
      children.push(child);
    });
    waiting.push(...children.reverse());
  }
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
}
