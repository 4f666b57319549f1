// sinusoidal_positions: P(t, 2i) = sin(t / 10000^(2i/d)), P(t, 2i + 1) = cos of the same angle (Vaswani et al. 2017,
// section 3.5). Positions are 64-bit and angles are formed in double: a float angle is wrong in its first digits after
// some million rows.

def SinusoidalPositionsOp : Encoder_TemporalOp<"sinusoidal_positions", "Pointwise"> {
  let summary = "sines and cosines of a row's position";
  let arguments = (ins Encoder_Positions:$positions, I64Attr:$features);
  let results = (outs Encoder_Rows:$y);
  let assemblyFormat = "$positions `,` $features attr-dict `:` type($positions)";
}
