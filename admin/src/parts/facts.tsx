// Names and values, one under another; what has no value is left out.
import { type ComponentChildren, Fragment } from "preact";

export function Facts(props: { rows: (readonly [string, ComponentChildren])[] }) {
  const shown = props.rows.filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  if (shown.length === 0) return null;
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
