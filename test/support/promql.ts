import { parser } from '@prometheus-io/lezer-promql';

/** A condition on a label. */
export interface Matcher {
  label: string;
  operator: '=' | '!=' | '=~' | '!~';
  value: string;
}

/** A selector of a query: a metric and conditions on its labels. Times in milliseconds. */
export interface Selector {
  kind: 'selector';
  metric: string;
  matchers: Matcher[];
  /** Null for the value at a moment. */
  rangeMs: number | null;
  offsetMs: number;
}

/** A query with the features that our rules use. All others are refused. */
export type Query =
  | Selector
  | { kind: 'number'; value: number }
  | { kind: 'call'; name: FunctionName; of: Query }
  | { kind: 'aggregate'; operator: 'sum' | 'max' | 'min'; by: string[]; of: Query }
  | { kind: 'binary'; operator: Operator; on: string[] | null; left: Query; right: Query };

export const FUNCTIONS = ['absent', 'avg_over_time', 'changes', 'delta', 'increase', 'min_over_time', 'rate'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

const OPERATORS = { Div: '/', Gtr: '>', Lss: '<', Eql: '==', And: 'and', Or: 'or', Unless: 'unless' } as const;
export type Operator = (typeof OPERATORS)[keyof typeof OPERATORS];

type Node = ReturnType<typeof parser.parse>['topNode'];

/**
 * Parses a query with the grammar of Prometheus.
 * @throws if the text is no query, or uses features that our rules do not use
 */
export function parsePromQl(text: string): Query {
  const tree = parser.parse(text);
  tree.iterate({
    enter({ type, from }) {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${text}`);
    },
  });
  return new Reader(text).read(only(tree.topNode));
}

/** All selectors of a query, in their order. */
export function selectorsOf(query: Query): Selector[] {
  if (query.kind === 'selector') return [query];
  if (query.kind === 'binary') return [...selectorsOf(query.left), ...selectorsOf(query.right)];
  return query.kind === 'number' ? [] : selectorsOf(query.of);
}

/** All labels by which it groups. */
export function groupedBy(query: Query): string[] {
  if (query.kind === 'binary') return [...new Set([...groupedBy(query.left), ...groupedBy(query.right)])];
  if (query.kind === 'aggregate') return [...query.by, ...groupedBy(query.of)];
  return query.kind === 'call' ? groupedBy(query.of) : [];
}

class Reader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  read(node: Node): Query {
    switch (node.name) {
      case 'NumberDurationLiteral':
        return { kind: 'number', value: Number(this.#said(node)) };
      case 'ParenExpr':
        return this.read(only(node));
      case 'VectorSelector':
        return this.#selector(node);
      case 'MatrixSelector': {
        const [selector, duration] = childrenOf(node);
        return { ...this.#selector(selector), rangeMs: this.#duration(duration) };
      }
      case 'OffsetExpr': {
        const [of, , duration] = childrenOf(node);
        const selected = of && this.read(of);
        // The grammar for editors attaches an offset to the whole expression. Prometheus attaches it to the last
        // selector.
        if (selected?.kind !== 'selector' || of?.name === 'ParenExpr') throw this.#refused(node);
        return { ...selected, offsetMs: this.#duration(duration) };
      }
      case 'FunctionCall':
        return this.#call(node);
      case 'AggregateExpr':
        return this.#aggregate(node);
      case 'BinaryExpr':
        return this.#binary(node);
      default:
        throw this.#refused(node);
    }
  }

  #selector(node: Node | undefined): Selector {
    const [metric, matchers] = node === undefined ? [] : childrenOf(node);
    if (node?.name !== 'VectorSelector' || metric?.name !== 'Identifier') throw this.#refused(node);
    const parts = matchers === undefined ? [] : childrenOf(matchers);
    return {
      kind: 'selector',
      metric: this.#said(metric),
      matchers: parts.map((part) => this.#matcher(part)),
      rangeMs: null,
      offsetMs: 0,
    };
  }

  #matcher(node: Node): Matcher {
    const [label, operator, value] = childrenOf(node).map((part) => this.#said(part));
    if (node.name !== 'UnquotedLabelMatcher' || label === undefined || value === undefined) throw this.#refused(node);
    return { label, operator: operator as Matcher['operator'], value: JSON.parse(value) as string };
  }

  #call(node: Node): Query {
    const [name, body] = childrenOf(node);
    const called = FUNCTIONS.find((one) => name !== undefined && one === this.#said(name));
    if (called === undefined || body === undefined) throw this.#refused(node);
    const of = this.read(only(body));
    const isOverTime = called !== 'absent';
    if (of.kind !== 'selector' || (of.rangeMs !== null) !== isOverTime) throw this.#refused(node);
    return { kind: 'call', name: called, of };
  }

  #aggregate(node: Node): Query {
    const operator = (['sum', 'max', 'min'] as const).find((one) => this.#said(node).startsWith(one));
    const modifier = node.getChild('AggregateModifier');
    const body = node.getChild('FunctionCallBody');
    if (operator === undefined || body === null || modifier?.getChild('By') == null) throw this.#refused(node);
    return { kind: 'aggregate', operator, by: this.#labels(modifier), of: this.read(only(body)) };
  }

  #binary(node: Node): Query {
    const parts = childrenOf(node);
    const [left, right] = [parts[0], parts.at(-1)];
    const named = parts.find(({ name }) => name in OPERATORS);
    const matching = node.getChild('MatchingModifierClause');
    if (left === undefined || right === undefined || named === undefined || node.getChild('BoolModifier') !== null) {
      throw this.#refused(node);
    }
    if (matching !== null && matching.getChild('On') === null) throw this.#refused(node);
    return {
      kind: 'binary',
      operator: OPERATORS[named.name as keyof typeof OPERATORS],
      on: matching === null ? null : this.#labels(matching),
      left: this.read(left),
      right: this.read(right),
    };
  }

  #labels(node: Node): string[] {
    const labels = node.getChild('GroupingLabels');
    return labels === null ? [] : childrenOf(labels).map((label) => this.#said(label));
  }

  #duration(node: Node | undefined): number {
    const [, count = '', unit = ''] = (node && /^(\d+)([smhd])$/.exec(this.#said(node))) ?? [];
    const ms = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
    if (ms === undefined) throw this.#refused(node);
    return Number(count) * ms;
  }

  #said({ from, to }: Node): string {
    return this.#text.slice(from, to);
  }

  #refused(node: Node | undefined): Error {
    return new Error(`not evaluated here: ${node === undefined ? this.#text : this.#said(node)}`);
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

function only(node: Node): Node {
  const [child, ...others] = childrenOf(node);
  if (child === undefined || others.length > 0) throw new Error(`not one part in ${node.name}`);
  return child;
}
